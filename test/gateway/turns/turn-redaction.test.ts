import { afterEach, describe, expect, it } from 'vitest'
import type { ModelRequest } from '#gateway/call/provider-port.ts'
import { type PolicyChoice, policyBy } from '#gateway/redaction/redaction-policy.ts'
import { piiTypes } from '#specs/resources/gateway/redaction.ts'
import { cut, whole } from '../call/scripted-upstream.ts'
import { delta, framesOf, usageChunk } from '../chat/chat-world.ts'
import { openTurnWorld, type TurnWorld, whose } from './turn-world.ts'

const ada = 'ada@example.com'

const request: ModelRequest = {
  model: 'model-1',
  instructions: [`You answer for ${ada}.`],
  messages: [
    { role: 'user', content: 'Hello' },
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ callId: 'c1', name: 'mail', arguments: `{"to":"${ada}"}`, opaque: 'signed' }],
    },
    { role: 'tool', callId: 'c1', name: 'mail', content: `sent to ${ada}` },
  ],
  tools: [],
  maxTokens: 9,
  idempotencyKey: 'k',
}

let world: TurnWorld
afterEach(() => world.close())

const open = async (choice: Partial<PolicyChoice> = {}): Promise<TurnWorld> => {
  world = await openTurnWorld()
  const policy = policyBy({
    ...{ types: piiTypes, input: true, toolArguments: true, restore: true, region: 'US' },
    ...choice,
  })
  world.world.redaction = { policyOf: () => policy, forLog: (body) => body }
  return world
}

const call = { index: 0, id: 'c2', type: 'function', function: { name: 'mail', arguments: '{"to":"[EMAIL_1]"}' } }
const answer = framesOf(
  delta({ role: 'assistant', content: 'Dear [EM' }),
  delta({ content: 'AIL_1], hello [x' }),
  delta({ tool_calls: [call] }),
  delta({}, 'tool_calls'),
  usageChunk,
  '[DONE]',
)

describe('a turn of a project with redaction', () => {
  it('sends no personal data, and has it restored in deltas and tool arguments', async () => {
    const { first, stream } = await open()
    first.script(whole(answer))
    const { answer: got, deltas } = await stream(request)
    expect(first.received[0]?.body).toMatchObject({ stream: true, max_tokens: 9 })
    expect(first.received[0]?.body.messages).toEqual([
      { role: 'system', content: 'You answer for [EMAIL_1].' },
      { role: 'user', content: 'Hello' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'mail', arguments: '{"to":"[EMAIL_1]"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'sent to [EMAIL_1]' },
    ])
    expect(deltas.join('')).toBe(`Dear ${ada}, hello [x`)
    expect(got).toMatchObject({ text: deltas.join(''), toolCalls: [{ callId: 'c2', arguments: `{"to":"${ada}"}` }] })
  })

  it('restores personal data that is split over chunks with nothing but text', async () => {
    const { first, stream } = await open()
    const texts = ['to', ' a', ' [', 'EMAIL', '_1', '] and [E', 'MAIL_1]', ' or [EMAIL', ' [EM']
    const words = texts.map((content) => delta({ content }))
    first.script(whole(framesOf(delta({ role: 'assistant', content: '' }), ...words, delta({}, 'stop'), '[DONE]')))
    const { answer: got, deltas } = await stream(request)
    expect(deltas.join('')).toBe(`to a ${ada} and ${ada} or [EMAIL [EM`)
    expect(got.text).toBe(deltas.join(''))
  })

  it('follows the redaction policy of the project', async () => {
    const { first, stream } = await open({ toolArguments: false, restore: false })
    first.script(whole(answer))
    const { answer: got } = await stream(request)
    expect(JSON.stringify(first.received[0]?.body.messages)).toContain(JSON.stringify(`{"to":"${ada}"}`))
    expect(JSON.stringify(first.received[0]?.body.messages)).toContain('sent to [EMAIL_1]')
    expect(got.text).toBe('Dear [EMAIL_1], hello [x')
  })

  it('has restored deltas and an error when the answer breaks', async () => {
    const { first, turns } = await open()
    first.script(cut(framesOf(delta({ role: 'assistant', content: 'see ' }), delta({ content: '[EMAIL_1] ' }))))
    const deltas: string[] = []
    const running = turns.call(request, whose, {
      onDelta: (text) => deltas.push(text),
      signal: new AbortController().signal,
    })
    await expect(running).rejects.toMatchObject({ code: 'provider_stream_broken' })
    expect(deltas.join('')).toBe(`see ${ada} `)
  })
})
