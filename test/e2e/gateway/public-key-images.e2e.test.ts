import { afterAll, beforeAll, expect, it } from 'vitest'
import { openUpstream, type Upstream } from '#test/gateway/call/scripted-upstream.ts'
import { World } from '../world.ts'

let upstream: Upstream
let world: World
beforeAll(async () => {
  upstream = await openUpstream()
  const env = { OPENAI_API_KEY: 'key-1', OPENAI_BASE_URL: upstream.url }
  world = await World.start({ env, tools: [{ host: new URL(upstream.url).host }] })
}, 120_000)
afterAll(async () => {
  await world.stop()
  await upstream.close()
})

const picture =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const content = [{ type: 'image_url', image_url: { url: picture } }]
const seen = { model: 'gpt-3.5-turbo', messages: [{ role: 'user', content }] }

const answers = (): void =>
  upstream.script((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        ...{ id: 'c', object: 'chat.completion', model: 'm', usage: { prompt_tokens: 1, completion_tokens: 1 } },
        choices: [{ index: 0, message: { role: 'assistant', content: 'A dot.' }, finish_reason: 'stop' }],
      }),
    ),
  )
const called = () => upstream.received.map(({ body }) => body.model)

const keyOf = async (config: object, key_type: string) => {
  const agent = (await world.api.post('/v1/agents', { name: 'Shop', config })).body
  return world.as((await world.api.post(`/v1/agents/${agent.id}/keys`, { name: 'page', key_type })).body.key)
}

it.each(['/v1/chat/completions', '/api/ai/chat'])(
  'an image in a request to %s gives a public key no model outside of its agent',
  async (path) => {
    const page = await keyOf({ model: 'gpt-3.5-turbo' }, 'public')
    answers()
    for (const body of [seen, { ...seen, stream: true }]) {
      const answer = await page.fetch(path, body)
      expect([answer.status, (await answer.text()).includes('secret_key_required')]).toEqual([403, true])
    }
    expect(called()).toEqual([])
  },
)

it('an image leads a public key to a vision model of its agent', async () => {
  const page = await keyOf({ model: 'gpt-3.5-turbo', models: ['gpt-4o-mini'] }, 'public')
  answers()
  const answer = await page.post('/v1/chat/completions', { ...seen, models: ['gpt-4o-mini'] })
  expect([answer.status, called()]).toEqual([200, ['gpt-4o-mini']])
})

it("an image leads a project's secret key to another model of the provider, and an agent's only to one of its agent", async () => {
  answers()
  const refused = await (await keyOf({ model: 'gpt-3.5-turbo' }, 'secret')).post('/v1/chat/completions', seen)
  expect([refused.status, called()]).toEqual([403, []])
  const answer = await world.api.post('/v1/chat/completions', seen)
  expect(answer.status).toBe(200)
  expect(called()).not.toContain('gpt-3.5-turbo')
})

/** A host that ALLOWED_PRIVATE_HOSTS names, as a request may name it. */
const privateUrls = () => {
  const { host } = new URL(upstream.url)
  const [image, tool] = [`https://${host}/a.png`, `http://${host}/tool`]
  return { image, http: { type: 'http', name: 'look', url: tool }, mcp: { type: 'mcp', server_url: tool } }
}

const clientToken = async () => {
  const { body: tenant } = await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })
  const given = { tenant_id: tenant.id, external_user_id: 'ada' }
  return world.as((await world.api.post('/v1/client-tokens', given)).body.token)
}

it.each([
  ['client token', clientToken],
  ['public key', () => keyOf({ model: 'simulated-1' }, 'public')],
])('no URL of a %s leads to a private host that ALLOWED_PRIVATE_HOSTS names', async (_, credential) => {
  const browser = await credential()
  const turns = `/v1/sessions/${await browser.createSession()}/turns`
  const { image, http, mcp } = privateUrls()
  const before = upstream.received.length
  for (const path of ['/v1/vision', '/api/ai/vision'])
    expect((await browser.post(path, { image_url: image })).status, path).toBe(403)
  for (const tool of [http, mcp])
    expect(await browser.post(turns, { input: 'Please use look', tools: [tool] }), tool.type).toMatchObject({
      status: 403,
      body: { error: { code: 'secret_key_required', param: 'tools[0]' } },
    })
  expect(upstream.received).toHaveLength(before)
})

it('no image leads to a private host that ALLOWED_PRIVATE_HOSTS names, to which a tool of a secret key does', async () => {
  const { image, http } = privateUrls()
  const before = upstream.received.length
  const refused = await world.api.post('/v1/vision', { image_url: image })
  expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('is a URL that is not allowed')])
  expect(upstream.received).toHaveLength(before)
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }
  const saying = (message: object) => JSON.stringify({ model: 'm', choices: [{ index: 0, message }] })
  upstream.script(
    (response) => response.end(saying({ role: 'assistant', content: null, tool_calls: [call] })),
    (response) => response.end('{}'),
    (response) => response.end(saying({ role: 'assistant', content: 'Done.' })),
  )
  const turn = { input: 'Look', tools: [{ ...http, needsApproval: false }], pause_on_tool_calls: false }
  const events = await world.api.turn(await world.api.createSession(), turn)
  expect((await events.all()).at(-1)?.event).toBe('turn.completed')
  expect(upstream.received.map(({ path }) => path)).toEqual(['/chat/completions', '/tool', '/chat/completions'])
})
