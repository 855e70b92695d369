import { describe, expect, it } from 'vitest'
import { RobotsFiles } from '#actors/web/fetch/robots-files.ts'
import { ServiceError } from '#specs/errors/errors.ts'

describe('cached robots.txt files', () => {
  it('are those of 1,000 sites: the oldest is read again', async () => {
    const read: string[] = []
    const files = new RobotsFiles({
      now: () => 0,
      crawler: 'TroupeBot',
      read: async (url) => {
        read.push(url.host)
        throw new ServiceError('fetch_failed')
      },
    })
    const { signal } = new AbortController()
    for (let n = 0; n <= 1_000; n += 1) await files.allows(new URL(`http://s${n}.example/`), signal)
    await files.allows(new URL('http://s1000.example/'), signal)
    expect(read).toHaveLength(1_001)
    await files.allows(new URL('http://s0.example/'), signal)
    expect(read.at(-1)).toBe('s0.example')
  })
})
