import { afterEach, describe, expect, it } from 'vitest'
import type { ModelRequest } from '#gateway/call/provider-port.ts'
import { GuardCall } from '#gateway/guardrails/guard-call.ts'
import { RemoteChecks } from '#gateway/guardrails/remote-checks.ts'
import { policyBy } from '#gateway/redaction/redaction-policy.ts'
import { arrayOf, objectOf } from '#outgoing/wire.ts'
import { piiTypes } from '#specs/resources/gateway/redaction.ts'
import { whole } from '../call/scripted-upstream.ts'
import { anthropic } from '../call/wire-samples.ts'
import { delta, framesOf, usageChunk } from '../chat/chat-world.ts'
import { setOf, words } from '../guardrails/guarded-world.ts'
import { ofSize, pngOf } from '../vision/vision-world.ts'
import { openTurnWorld, routeOf, type TurnWorld, whose } from './turn-world.ts'

const ada = 'ada@example.com'
const png = pngOf(4, 4)
const shown = (bytes: Buffer = png) => ({
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${bytes.toString('base64')}` },
})
const text = (given: string) => ({ type: 'text', text: given })

const requestOf = (parts: readonly object[], model = 'model-1'): ModelRequest => ({
  model,
  messages: [
    { role: 'user', content: `I am ${ada}.` },
    { role: 'assistant', content: 'Hello', toolCalls: [] },
    { role: 'user', content: '', parts: JSON.parse(JSON.stringify(parts)) },
  ],
  ...{ tools: [], hasMedia: true, idempotencyKey: 'k' },
})

const answerOf = (content: string) =>
  whole(framesOf(delta({ role: 'assistant', content }), delta({}, 'stop'), usageChunk, '[DONE]'))

let world: TurnWorld
afterEach(() => world.close())

const sent = () => arrayOf(world.first.received.at(-1)?.body.messages).map(objectOf)

describe('the texts beside the images of a turn', () => {
  it('are redacted as the text of another turn, and restored in the answer', async () => {
    world = await openTurnWorld()
    const policy = policyBy({ types: piiTypes, input: true, toolArguments: true, restore: true, region: 'US' })
    world.world.redaction = { policyOf: () => policy, forLog: (body) => body }
    world.first.script(answerOf('Dear [EMAIL_1] and [EMAIL_2]'))
    const parts = [text(`From ${ada} to bob@example.com`), shown(), text(ada)]
    const { answer } = await world.stream(requestOf(parts))
    expect(sent()).toEqual([
      { role: 'user', content: 'I am [EMAIL_1].' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: [text('From [EMAIL_1] to [EMAIL_2]'), shown(), text('[EMAIL_1]')] },
    ])
    expect(answer.text).toBe(`Dear ${ada} and bob@example.com`)
  })

  it.each(['block', 'redact'] as const)('are checked by guardrails that %s', async (action) => {
    const remote = new RemoteChecks({
      guard: { request: () => Promise.reject(new Error('no remote check')) },
      ...{ signingSecrets: async () => [], now: Date.now, newId: () => 'msg_1' },
      complete: () => Promise.reject(new Error('no model check')),
    })
    const guardrails = { open: () => new GuardCall(setOf([words(action)]), remote, whose) }
    world = await openTurnWorld({ guardrails })
    world.first.script(answerOf('Yes'))
    const turn = world.stream(requestOf([shown(), text('the falcon')]))
    if (action === 'block') {
      await expect(turn).rejects.toMatchObject({ code: 'content_policy_violation' })
      expect(world.first.received).toEqual([])
    } else {
      await turn
      expect(sent().at(-1)?.content).toEqual([shown(), text('the [REDACTED]')])
    }
  })
})

describe('the images of a turn', () => {
  it('go to a model that sees, unless the caller may use only certain models', async () => {
    world = await openTurnWorld()
    const route = { ...routeOf('openai', world.first, 'gpt-3.5-turbo'), provider: 'openai' }
    world.routes.set('gpt-3.5-turbo', [route])
    world.first.script(answerOf('A square'))
    await world.stream(requestOf([shown()], 'gpt-3.5-turbo'))
    expect(world.first.received[0]?.body.model).toBe('gpt-4o-mini')
    const limited = { ...whose, models: new Set(['gpt-3.5-turbo']) }
    const options = { onDelta: () => {}, signal: new AbortController().signal }
    await expect(world.turns.call(requestOf([shown()], 'gpt-3.5-turbo'), limited, options)).rejects.toMatchObject({
      code: 'secret_key_required',
    })
    expect(world.first.received).toHaveLength(1)
  })

  it('that one provider does not take go to the next that does, and are refused with its limit if none does', async () => {
    world = await openTurnWorld()
    const claude = routeOf('anthropic', world.first, anthropic.model)
    const other = { ...routeOf('openai', world.second, anthropic.model), provider: 'custom:1' }
    world.routes.set('claude', [claude])
    const large = requestOf([text('?'), shown(ofSize(png, 6 * 1024 * 1024))], 'claude')
    const refused = await world.stream(large).catch((error: unknown) => error)
    expect(refused).toMatchObject({
      code: 'image_too_large',
      message: 'messages[2].content[1].image_url.url has 6291456 bytes; this provider accepts at most 5242880.',
    })
    world.routes.set('claude', [claude, other])
    world.second.script(answerOf('A square'))
    expect((await world.stream(large)).answer.text).toBe('A square')
    expect(world.first.received).toEqual([])
    world.first.script(whole(anthropic.text))
    await world.stream(requestOf([shown(ofSize(png, 5 * 1024 * 1024))], 'claude'))
    expect([world.first.received.length, world.second.received.length]).toEqual([1, 1])
  })
})
