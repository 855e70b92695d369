import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openUpstream, type Upstream } from '#test/gateway/call/scripted-upstream.ts'
import { goodAnswer, goodStream } from '#test/gateway/chat/chat-world.ts'
import { runToolHosted } from '../hosted/operator-tool.ts'
import { patience } from '../patience.ts'
import { World } from '../world.ts'

describe('a call without max_tokens whose longest answer may exceed the budget', () => {
  let upstream: Upstream
  let world: World
  let limitId: string

  beforeAll(async () => {
    upstream = await openUpstream()
    world = await World.start({ env: { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: upstream.url } })
    upstream.script((response, { body }) => {
      if (body.stream === true) response.writeHead(200, { 'content-type': 'text/event-stream' }).end(goodStream)
      else response.end(JSON.stringify(goodAnswer))
    })
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await upstream.close()
  })

  // 60 USD for a million tokens of at most 100,000 an answer: 6 USD
  const model = 'o1'
  const outputUsd = 0.00006
  const messages = [{ role: 'user' as const, content: 'hi' }]
  const budget = async (budget_total_usd: string) => {
    limitId = (await world.api.post('/v1/limits', { subject: 'project', budget_total_usd })).body.id
  }
  const spent = async () => Number((await world.api.get(`/v1/limits/${limitId}`)).body.spent_total_usd)

  it.each([
    ['/v1/chat/completions', { model, messages }],
    ['/v1/chat/completions', { model, messages, stream: true }],
    ['/v1/responses', { model, input: 'hi' }],
    ['/api/ai/chat', { model, messages }],
  ])('is made with the max_tokens that the remaining budget affords, and reports it: %s %o', async (path, body) => {
    await budget('1')
    const before = upstream.received.length
    const answer = await world.api.fetch(path, body)
    await answer.text()
    expect(answer.status).toBe(200)
    const limited = Number(answer.headers.get('x-max-tokens-limited'))
    expect(limited).toBeGreaterThan(7_000)
    expect(limited * outputUsd).toBeLessThan(0.5)
    const sent = upstream.received[before]?.body
    expect(sent?.max_completion_tokens ?? sent?.max_tokens).toBe(limited)
  })

  it('is made unchanged when its longest answer is affordable or the caller limits it', async () => {
    await budget('20')
    const client = new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 0 })
    const request = (max_completion_tokens?: number) =>
      client.chat.completions
        .create({ model, messages, ...(max_completion_tokens !== undefined && { max_completion_tokens }) })
        .withResponse()
    expect((await request()).response.headers.get('x-max-tokens-limited')).toBeNull()
    expect(upstream.received.at(-1)?.body).toEqual({ model, messages })
    await budget('1')
    expect((await request(10_000)).response.headers.get('x-max-tokens-limited')).toBeNull()
    await expect(request(20_000)).rejects.toMatchObject({ status: 402, code: 'budget_exceeded' })
  })

  it('is refused when the remaining budget affords fewer than 256 tokens', async () => {
    await expect.poll(spent).toBeGreaterThan(0)
    await budget(String((await spent()) + 200 * outputUsd))
    const refused = await world.api.post('/v1/chat/completions', { model, messages })
    expect([refused.status, refused.body.error.code]).toEqual([402, 'budget_exceeded'])
    await budget(String((await spent()) + 400 * outputUsd))
    expect((await world.api.post('/v1/chat/completions', { model, messages })).status).toBe(200)
  })

  it('is limited by the remaining credits, and refused when they afford fewer than 256 tokens', async () => {
    await world.api.fetch(`/v1/limits/${limitId}`, undefined, { method: 'DELETE' })
    const { body: me } = await (await world.dashboard()).get('/api/auth/me')
    const grant = (usd: string) =>
      runToolHosted('credits', ['--organization', me.organization.id, '--grant', usd], world.toolEnv)
    const chat = () => world.api.post('/v1/chat/completions', { model, messages })
    expect((await grant('0.001')).code).toBe(0)
    await expect
      .poll(async () => (await chat()).body.error, patience)
      .toMatchObject({ type: 'permission_error', code: 'credit_balance_exhausted' })
    expect((await grant('1.5')).code).toBe(0)
    await expect.poll(async () => (await chat()).status, patience).toBe(200)
    const limited = Number((await chat()).headers.get('x-max-tokens-limited'))
    expect(limited).toBeGreaterThan(7_000)
    expect(limited * outputUsd).toBeLessThan(1.5)
  })
})
