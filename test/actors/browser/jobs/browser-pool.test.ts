import { describe, expect, it } from 'vitest'
import { type BrowserPool, openBrowserPool, poolLimits } from '#actors/browser/jobs/browser-pool.ts'

const never = new AbortController().signal

/** A job that keeps its place until it is ended. */
const held = (pool: BrowserPool, owner: string, signal = never) => {
  const over = Promise.withResolvers<string>()
  const state = { hasBegun: false }
  const work = () => {
    state.hasBegun = true
    return over.promise
  }
  const done = pool.run(owner, work, signal)
  return { state, done, end: () => over.resolve(owner) }
}

const calm = () => new Promise((resolve) => setImmediate(resolve))

describe('a pool of browsers', () => {
  it('runs the configured number of jobs at a time, and no more', async () => {
    const pool = openBrowserPool({ atOnce: 2, perOwner: 2 })
    const jobs = Array.from({ length: 20 }, () => held(pool, 'a'))
    const begun = () => jobs.filter(({ state }) => state.hasBegun).length
    for (const [index, job] of jobs.entries()) {
      await calm()
      expect(begun()).toBe(Math.min(jobs.length, index + 2))
      expect(pool.running).toBe(Math.min(2, jobs.length - index))
      job.end()
      await job.done
    }
    expect([pool.running, pool.waiting]).toEqual([0, 0])
  })

  it('keeps a place for others if one owner has many jobs', async () => {
    const pool = openBrowserPool({ atOnce: 3, perOwner: 2 })
    const many = Array.from({ length: 5 }, () => held(pool, 'many'))
    const other = held(pool, 'other')
    await calm()
    expect(many.filter(({ state }) => state.hasBegun)).toHaveLength(2)
    expect(other.state.hasBegun).toBe(true)
  })

  it('gives the place of a job that failed to the next one', async () => {
    const pool = openBrowserPool({ atOnce: 1, perOwner: 1 })
    const broken = pool.run('a', () => Promise.reject(new Error('broken')))
    const next = pool.run('a', async () => 'next')
    await expect(broken).rejects.toThrow('broken')
    expect(await next).toBe('next')
  })

  it('drops a job that is aborted before it has a place', async () => {
    const pool = openBrowserPool({ atOnce: 1, perOwner: 1 })
    const first = held(pool, 'a')
    const abort = new AbortController()
    const second = held(pool, 'a', abort.signal)
    abort.abort(new Error('deleted'))
    await expect(second.done).rejects.toThrow('deleted')
    expect(pool.waiting).toBe(0)
    first.end()
    await first.done
    expect(second.state.hasBegun).toBe(false)
    await expect(held(pool, 'a', abort.signal).done).rejects.toThrow('deleted')
  })

  it.each([
    [null, 1, { atOnce: 2, perOwner: 1 }],
    [null, 2, { atOnce: 3, perOwner: 2 }],
    [null, 8, { atOnce: 9, perOwner: 8 }],
    [1, 8, { atOnce: 1, perOwner: 1 }],
    [4, 8, { atOnce: 4, perOwner: 3 }],
  ])('has places by its setting and the processors (BROWSER_JOBS=%s, %s)', (configured, processors, limits) => {
    expect(poolLimits(configured, processors)).toEqual(limits)
  })

  it('gives a free place to the owner with the fewest', async () => {
    const pool = openBrowserPool({ atOnce: 3, perOwner: 2 })
    const jobs = ['many', 'many', 'few'].map((owner) => held(pool, owner))
    const later = ['many', 'few', 'new'].map((owner) => held(pool, owner))
    jobs[0]?.end()
    await jobs[0]?.done
    await calm()
    expect(later.map(({ state }) => state.hasBegun)).toEqual([false, false, true])
  })
})
