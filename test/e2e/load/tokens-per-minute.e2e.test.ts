import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from '../world.ts'

const perMinute = 600
const model = 'simulated-1'
const messages = [{ role: 'user', content: 'Tell me something about tokens.' }]
/** More than one of the calls below uses. */
const oneCall = 150

const apis = [
  { path: '/v1/chat/completions', body: { model, messages, max_tokens: 60 } },
  { path: '/v1/chat/completions', body: { model, messages, max_tokens: 60, stream: true } },
  { path: '/v1/responses', body: { model, input: 'Tell me something about tokens.', max_output_tokens: 60 } },
  { path: '/v1/messages', body: { model, messages, max_tokens: 60 } },
  { path: '/api/ai/chat', body: { model, messages, maxTokens: 60, stream: true } },
  { path: '/v1/embeddings', body: { model, input: 'word '.repeat(60) } },
] as const

describe('a limit of tokens per minute', () => {
  let world: World

  beforeAll(async () => {
    world = await World.start()
  }, 120_000)
  afterAll(() => world.stop())

  const limited = async (name: string, tokens_per_minute = perMinute): Promise<string> => {
    const { id } = (await world.api.post('/v1/tenants', { external_id: name, name })).body
    await world.api.post('/v1/limits', { subject: 'tenant', subject_id: id, tokens_per_minute })
    return id
  }

  const usedBy = async (tenant: string): Promise<number> => {
    const { totals } = (await world.api.get(`/v1/usage?tenant_id=${tenant}`)).body
    return totals.input_tokens + totals.output_tokens
  }

  it.each(apis.map((api, at) => ({ ...api, name: `api-${at}` })))(
    'is exceeded by at most one of a hundred parallel calls of $path ($name)',
    async ({ path, body, name }) => {
      const tenant = await limited(name)
      const call = async () => {
        const answer = await world.api.fetch(path, body, { headers: { 'x-tenant-id': tenant } })
        await answer.text()
        return answer.status
      }
      const statuses = await Promise.all(Array.from({ length: 100 }, call))
      expect(new Set(statuses)).toEqual(new Set([200, 429]))
      const used = await usedBy(tenant)
      expect(used).toBeGreaterThan(perMinute / 4)
      expect(used).toBeLessThanOrEqual(perMinute + oneCall)
    },
  )

  it('is exceeded by at most one of many parallel turns, which hold nothing after they have ended', async () => {
    const tenant = await limited('turns', 9_000)
    const sessions = await Promise.all(Array.from({ length: 30 }, () => world.api.createSession({ tenant_id: tenant })))
    const turn = async (session: string) => {
      const frames = await (await world.api.turn(session, { input: 'Hello there' })).all()
      return frames.at(-1)?.event
    }
    const ends = await Promise.all(sessions.map(turn))
    expect(ends).toContain('turn.completed')
    expect(await usedBy(tenant)).toBeLessThanOrEqual(9_000 + 4_200)
    expect(await turn(sessions[0] ?? '')).toBe('turn.completed')
  })

  it('is not used by calls that fail', async () => {
    const tenant = await limited('failing')
    const headers = { 'x-tenant-id': tenant }
    for (let n = 0; n < 30; n++)
      await world.api.post('/v1/chat/completions', { model: 'no-such-model', messages, max_tokens: 500 }, { headers })
    const answer = await world.api.post('/v1/chat/completions', { model, messages, max_tokens: 20 }, { headers })
    expect(answer.status).toBe(200)
    expect(Number(answer.headers.get('x-ratelimit-remaining-tokens'))).toBeGreaterThan(perMinute - oneCall)
  })
})
