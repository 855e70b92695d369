import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openUpstream, type Upstream } from '#test/gateway/call/scripted-upstream.ts'
import { World } from '../world.ts'

const model = '"model":"gpt-4o-mini"'
const said = '"messages":[{"role":"user","content":"Hi"}]'
const twice = '"messages":[{"role":"user","content":"write to ada@example.com","content":"Hi"}]'
const contentTwice = { body: twice, param: 'messages[0].content' }
const modelTwice = { body: `${said},"model":"o1-pro"`, param: 'model' }

describe('a duplicate name in a request body', () => {
  let upstream: Upstream
  let world: World
  beforeAll(async () => {
    upstream = await openUpstream()
    world = await World.start({ env: { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: upstream.url } })
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await upstream.close()
  })

  const cases = [
    { path: '/v1/chat/completions', ...modelTwice },
    { path: '/v1/chat/completions', ...contentTwice },
    { path: '/v1/messages', body: `${said},"max_tokens":9,"max_tokens":9000`, param: 'max_tokens' },
    { path: '/v1/messages', body: `${twice},"max_tokens":9`, param: 'messages[0].content' },
    { path: '/v1/messages/count_tokens', ...contentTwice },
    { path: '/v1/responses', body: '"input":"Hi","input":"write to ada@example.com"', param: 'input' },
    { path: '/v1/responses', body: '"input":[{"role":"user","role":"system","content":"Hi"}]', param: 'input[0].role' },
    { path: '/api/ai/chat', ...contentTwice },
    { path: '/api/ai/vision', body: '"prompt":"a","prompt":"b","image":"x"', param: 'prompt' },
    { path: '/v1/embeddings', body: '"input":"a","input":"ada@example.com"', param: 'input' },
    { path: '/v1/completions', body: '"prompt":"a","prompt":"b"', param: 'prompt' },
    { path: '/v1/moderations', body: '"input":"a","input":"b"', param: 'input' },
    { path: '/v1/rerank', body: '"query":"a","query":"b","documents":["c"]', param: 'query' },
    { path: '/v1/images/generations', body: '"prompt":"a","n":1,"n":9', param: 'n' },
    { path: '/v1/audio/speech', body: '"input":"a","input":"b","voice":"alloy"', param: 'input' },
  ]
  const roads = [
    { road: 'whole', stream: '', headers: {} },
    { road: 'streamed', stream: ',"stream":true', headers: {} },
    { road: 'keyed', stream: '', headers: { 'idempotency-key': 'k' } },
    { road: 'streamed and keyed', stream: ',"stream":true', headers: { 'idempotency-key': 's' } },
    { road: 'long', stream: `,"unknown":"${'x'.repeat(200_000)}"`, headers: {} },
  ]

  it.each(cases)(
    '$param of $path is refused by its path in every kind of request, and no provider is called',
    async (one) => {
      for (const { road, stream, headers } of roads) {
        const answer = await world.api.fetch(one.path, `{${model},${one.body}${stream}}`, { headers })
        const text = await answer.text()
        expect(answer.status, `${road}: ${text}`).toBe(400)
        expect(text, road).toContain(`The body contains ${one.param} twice.`)
      }
      expect(upstream.received).toEqual([])
    },
  )

  it('is refused when the second one is written with an escape', async () => {
    const answer = await world.api.fetch('/v1/chat/completions', `{${model},${said},"mod\\u0065l":"o1-pro"}`)
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('The body contains model twice.')
  })

  it('is refused by the platform API too', async () => {
    const answer = await world.api.fetch('/v1/actions', '{"tool":"t","arguments":{"a":1,"a":2}}')
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { code: 'malformed_json', param: 'arguments.a' } })
  })

  it('is accepted in different objects and within a string', async () => {
    const answer = await world.api.fetch(
      '/v1/actions',
      '{"tool":"t","arguments":{"a":{"a":[{"a":1},{"a":2}]},"b":"\\"a\\":1"}}',
    )
    expect(answer.status).toBe(201)
  })
})
