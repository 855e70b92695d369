import { vi } from 'vitest'
import type { RedisAccess } from '#storage/index.ts'
import { openRedis, type RedisLog, type RedisServices } from '#storage/redis/open-redis.ts'

export const silent: RedisLog = { info: () => {}, warn: () => {} }

/** A URL, and what it does not say. */
export type RedisAt = string | { readonly url: string; readonly access: RedisAccess }

/** Redis some time after the start, when its directory is trusted. The patience allows for a busy machine. */
export const openOn = async (
  at: RedisAt,
  installation: string,
  options: { readonly patienceMs?: number; readonly answerBytes?: number } = {},
): Promise<RedisServices> => {
  let passed = 0
  const where = typeof at === 'string' ? { url: at } : at
  const opened = await openRedis({
    ...where,
    ...{ installation, log: silent, patienceMs: 10_000, ...options },
    now: () => Date.now() + passed,
  })
  await vi.waitFor(
    async () => {
      if (!(await opened.ping())) throw new Error('redis does not answer')
    },
    { timeout: 60_000 },
  )
  passed = 10_000
  return opened
}
