import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VoiceLimit } from '#gateway/voice/voice-limit.ts'
import { startRedis } from '#scripts/services/redis.ts'
import type { Service } from '#scripts/services/service.ts'
import type { RedisServices } from '#storage/redis/open-redis.ts'
import { openOn } from '#test/storage/redis/opening.ts'

describe('the voice limit of a project on two nodes', () => {
  let server: Service
  let opened: readonly RedisServices[]

  beforeAll(async () => {
    server = await startRedis()
    opened = await Promise.all([1, 2].map(() => openOn(server.url, 'voice')))
  })
  afterAll(async () => {
    await Promise.all(opened.map((redis) => redis.close()))
    await server.stop()
  })

  it('is sixty requests in total, separately for each project', async () => {
    const nodes = opened.map(({ limits }) => new VoiceLimit(limits))
    const attempts = Array.from({ length: 120 }, (_, at) => nodes[at % 2]?.take('prj_1'))
    const outcomes = await Promise.allSettled(attempts)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(60)
    const other = new Map(await nodes[1]?.take('prj_2'))
    expect(other.get('x-ratelimit-remaining')).toBe('59')
  })
})
