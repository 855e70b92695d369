import { expect, vi } from 'vitest'
import type { RedisServices } from '#storage/redis/open-redis.ts'
import { newsOf } from '../contract/fan-out.ts'

export const eventually = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 60_000, interval: 25 })

/** Sends news to a process until some arrives. */
export const expectNews = async (from: RedisServices, process: string, heard: readonly unknown[]): Promise<void> => {
  const before = heard.length
  await eventually(() => {
    from.fanOut.publish(process, newsOf('ses_1', 1))
    expect(heard.length).toBeGreaterThan(before)
  })
}

const limit = { limit: 20, windowMs: 3_600_000 }

/**
 * Two processes take from limits without a pause while `disturb` runs, and afterwards.
 *
 * @returns how many units of each limit they got: more than its 20 while servers were away, and never fewer.
 */
export const takenDuring = async (
  views: readonly RedisServices[],
  keys: readonly string[],
  disturb: () => Promise<void>,
): Promise<readonly number[]> => {
  const taken = keys.map(() => 0)
  let isOver = false
  const takeAll = async (view: RedisServices): Promise<void> => {
    for (const [n, key] of keys.entries()) {
      const { allowed } = await view.limits.take(key, limit)
      if (allowed) taken[n] = (taken[n] ?? 0) + 1
    }
  }
  const taking = views.map(async (view) => {
    await vi.waitFor(
      async () => {
        await takeAll(view)
        if (!isOver) throw new Error('the disturbance lasts')
      },
      { timeout: 60_000, interval: 5 },
    )
    for (let round = 0; round < limit.limit; round++) await takeAll(view)
  })
  await disturb()
  isOver = true
  await Promise.all(taking)
  return taken
}
