import { vi } from 'vitest'
import { openRedis, type RedisLog, type RedisServices } from '#storage/redis/open-redis.ts'

export const silent: RedisLog = { info: () => {}, warn: () => {} }

/** Redis some time after the start, when its directory is trusted. The patience allows for a busy machine. */
export const openOn = async (
  url: string,
  installation: string,
  options: { readonly patienceMs?: number; readonly answerBytes?: number } = {},
): Promise<RedisServices> => {
  let passed = 0
  const opened = await openRedis({
    ...{ url, installation, log: silent, patienceMs: 10_000, ...options },
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
