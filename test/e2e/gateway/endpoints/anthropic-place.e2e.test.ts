import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from '#test/e2e/world.ts'
import { openUpstream, type Upstream, whole } from '#test/gateway/call/scripted-upstream.ts'

const usage = { input_tokens: 100, output_tokens: 1, inference_geo: 'us', speed: 'fast' }
const events: readonly { readonly type: string; readonly [field: string]: unknown }[] = [
  { type: 'message_start', message: { id: 'msg_1', model: 'claude-opus-4-7', usage } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 10 } },
  { type: 'message_stop' },
]

describe('the place and the speed of a message', () => {
  let upstream: Upstream
  let world: World
  beforeAll(async () => {
    upstream = await openUpstream()
    const env = { ANTHROPIC_API_KEY: 'key-1', ANTHROPIC_BASE_URL: upstream.url, SIMULATED_PROVIDER: 'on' }
    world = await World.start({ env })
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await upstream.close()
  })

  const messages = [{ role: 'user', content: 'Hello' }]

  it('are sent to Anthropic with its beta feature, and the answer costs as much more', async () => {
    upstream.script(whole(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')))
    const sdk = new Anthropic({ apiKey: world.secretKey, baseURL: world.url, maxRetries: 0 })
    const stream = sdk.beta.messages.stream({
      ...{ model: 'claude-opus-4-7', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
      ...{ inference_geo: 'us', speed: 'fast', betas: ['fast-mode-2026-02-01'] },
    })
    const shown: unknown[] = []
    stream.on('streamEvent', (event) => shown.push(event))
    await stream.finalMessage()
    expect(upstream.received[0]).toMatchObject({
      body: { inference_geo: 'us', speed: 'fast' },
      headers: { 'anthropic-beta': 'fast-mode-2026-02-01' },
    })
    // 5 USD a million in, 25 out, six times as much for the speed and 1.1 times for the place
    expect(shown.at(-2)).toMatchObject({ usage: { inference_geo: 'us', speed: 'fast', cost_usd: 0.00495 } })
  })

  it('are refused and left out where the provider of the model has no such thing', async () => {
    const send = (more: object) =>
      world.api.post('/v1/messages', { model: 'simulated', max_tokens: 100, messages, ...more })
    const bound = await send({ inference_geo: 'us' })
    expect([bound.status, bound.body.error]).toMatchObject([400, { code: 'bad_request', param: 'inference_geo' }])
    const fast = await send({ inference_geo: 'global', speed: 'fast' })
    expect([fast.status, fast.headers.get('x-ignored-tools')]).toEqual([200, 'speed'])
    expect((await send({ speed: 'standard' })).headers.get('x-ignored-tools')).toBeNull()
  })
})
