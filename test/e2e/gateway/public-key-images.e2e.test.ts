import { afterAll, beforeAll, expect, it } from 'vitest'
import { openUpstream, type Upstream } from '#test/gateway/call/scripted-upstream.ts'
import { World } from '../world.ts'

let upstream: Upstream
let world: World
beforeAll(async () => {
  upstream = await openUpstream()
  world = await World.start({ env: { OPENAI_API_KEY: 'key-1', OPENAI_BASE_URL: upstream.url } })
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
  'an image in %s leads a public key to no model outside of its agent',
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

it('an image takes a public key to a model of its agent that sees', async () => {
  const page = await keyOf({ model: 'gpt-3.5-turbo', models: ['gpt-4o-mini'] }, 'public')
  answers()
  const answer = await page.post('/v1/chat/completions', { ...seen, models: ['gpt-4o-mini'] })
  expect([answer.status, called()]).toEqual([200, ['gpt-4o-mini']])
})

it('an image takes a secret key to a model of the provider that sees, as before', async () => {
  answers()
  const answer = await (await keyOf({ model: 'gpt-3.5-turbo' }, 'secret')).post('/v1/chat/completions', seen)
  expect(answer.status).toBe(200)
  expect(called()).not.toContain('gpt-3.5-turbo')
})
