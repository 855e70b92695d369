import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, openUpstream, type Upstream } from '#test/gateway/call/scripted-upstream.ts'
import { patience } from '../patience.ts'
import { either, World } from '../world.ts'

const model = 'text-embedding-3-small'
const users = ['ada', 'bob']
const each = 150

describe.each(either('mongo'))('memories of a project that chose an embedding model, on $store', ({ store }) => {
  let upstream: Upstream
  let world: World
  const times = new Map<string, number>()
  /** Number of batches that will still be answered; further ones get no answer, as from a provider that is down. */
  let answers = 3

  const embeds: Answer = (response, { body }) => {
    const texts: readonly string[] = Array.isArray(body.input) ? body.input : [String(body.input)]
    if (answers-- <= 0) return
    for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1)
    const data = texts.map((text, index) => ({ object: 'embedding', index, embedding: [text.length, 1, 2, 3] }))
    const usage = { prompt_tokens: texts.length, total_tokens: texts.length }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ object: 'list', data, model: body.model, usage }))
  }

  beforeAll(async () => {
    upstream = await openUpstream()
    upstream.script(embeds)
    world = await World.start({ store, env: { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: upstream.url } })
  }, 300_000)
  afterAll(async () => {
    await world.stop()
    await upstream.close()
  })

  const embeddersOf = async (userId: string): Promise<readonly (string | null)[]> => {
    const found: (string | null)[] = []
    for (let cursor = ''; ; ) {
      const { body } = await world.api.get(`/v1/memory/list?userId=${userId}&limit=100${cursor}`)
      found.push(...body.memories.map(({ embedder }: { embedder: string | null }) => embedder))
      if (body.nextCursor === null) return found
      cursor = `&cursor=${body.nextCursor}`
    }
  }

  it('get their vectors without a search, and after kill -9 at most one batch is embedded twice', {
    timeout: 600_000,
  }, async () => {
    for (const userId of users)
      for (let first = 0; first < each; first += 50) {
        const memories = Array.from({ length: 50 }, (_, n) => ({ content: `${userId} has read volume ${first + n}` }))
        expect((await world.api.post('/v1/memory/write/batch', { userId, memories })).status).toBe(201)
      }
    const dashboard = await world.dashboard()
    const [project] = (await dashboard.get('/api/projects')).body.data
    const change = { memory: { embedder: model } }
    expect((await dashboard.post(`/api/projects/${project.id}`, change, { method: 'PATCH' })).status).toBe(200)

    await world.crash()
    await world.restart()
    await expect.poll(() => answers, patience).toBeLessThan(0)
    expect(times.size).toBeGreaterThan(0)
    expect(times.size).toBeLessThan(users.length * each)
    await world.crash()
    answers = Number.POSITIVE_INFINITY
    await world.restart()

    await expect.poll(() => times.size, patience).toBe(users.length * each)
    for (const userId of users)
      await expect.poll(async () => [...new Set(await embeddersOf(userId))], patience).toEqual([`model/${model}`])
    const again = [...times.values()].filter((made) => made > 1)
    expect(again.length).toBeLessThanOrEqual(64)
  })
})
