import { describe, expect, it } from 'vitest'
import { RobotsFiles } from '#actors/web/fetch/robots-files.ts'
import { systemClock } from '#runtime/clock.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** Pauses end at once, and time passes only when a test sets it. */
const quick = (now: () => number) => ({
  ...systemClock,
  now,
  after: (_ms: number, work: () => void) => {
    queueMicrotask(work)
    return () => {}
  },
})

describe('cached robots.txt files', () => {
  it('are those of 1,000 sites: the oldest is read again', async () => {
    const read = new Set<string>()
    const files = new RobotsFiles({
      clock: quick(() => 0),
      crawler: 'TroupeBot',
      read: async (url) => {
        read.delete(url.host)
        read.add(url.host)
        throw new ServiceError('fetch_failed')
      },
    })
    const { signal } = new AbortController()
    for (let n = 0; n <= 1_000; n += 1) await files.allows(new URL(`http://s${n}.example/`), signal)
    await files.allows(new URL('http://s1000.example/'), signal)
    expect(read.size).toBe(1_001)
    expect([...read].at(-1)).toBe('s1000.example')
    await files.allows(new URL('http://s0.example/'), signal)
    expect([...read].at(-1)).toBe('s0.example')
  })

  it('that cannot be read are requested again at growing intervals, up to ten minutes', async () => {
    let [now, requests] = [0, 0]
    const files = new RobotsFiles({
      clock: quick(() => now),
      crawler: 'TroupeBot',
      read: async () => {
        requests += 1
        throw new ServiceError('fetch_failed')
      },
    })
    const { signal } = new AbortController()
    const site = new URL('http://a.example/')
    const intervals: number[] = []
    for (let n = 0; n < 7; n += 1) {
      expect((await files.of(site, signal)).isUnreachable).toBe(true)
      const ms = files.retryMs(site)
      intervals.push(ms / 1000)
      now += ms - 1
      await files.of(site, signal)
      expect(requests).toBe(3 * (n + 1))
      now += 1
    }
    expect(intervals).toEqual([30, 60, 120, 240, 480, 600, 600])
  })
})
