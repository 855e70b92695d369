import { describe, expect, it } from 'vitest'
import { requestId } from '#transport/request-id.ts'

describe('a request id', () => {
  it.each(['abcdEF_-', '0'.repeat(128)])('is accepted from the client: %j', (given) => {
    expect(requestId(given)).toBe(given)
  })

  it.each([undefined, '', 'short77', '0'.repeat(129), 'has space here', 'line\nbreak1', 'abcdefgé', 'semi;colon'])(
    'is generated instead of %j',
    (given) => {
      expect(requestId(given)).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/)
    },
  )
})
