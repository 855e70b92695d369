import { describe, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import { nearestPath } from '#transport/api/nearest-path.ts'

const meantBy = nearestPath(Object.values(operations).flatMap(({ paths }) => paths))

describe('the path that was probably meant', () => {
  it.each([
    ['/chat/completions', '/v1/chat/completions'],
    ['/v1/v1/chat/completions', '/v1/chat/completions'],
    ['/v1/chat/completion/', '/v1/chat/completions'],
    ['/v1/session/ses_1/turn', '/v1/sessions/{session_id}/turns'],
    ['/V1/Models', '/v1/models'],
    ['/v1/tenant', '/v1/tenants'],
  ])('of %s is %s', (written, meant) => {
    expect(meantBy(written)).toBe(meant)
  })

  it.each(['/', '/v1', '/favicon.png', '/wp-admin/setup.php', `/v1/chat/completion${'s'.repeat(200)}`])(
    'of %s is none',
    (written) => {
      expect(meantBy(written)).toBeNull()
    },
  )
})
