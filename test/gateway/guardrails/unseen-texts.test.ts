import { describe, expect, it } from 'vitest'
import { actorCaller } from '#gateway/call/caller.ts'
import { GuardCall } from '#gateway/guardrails/guard-call.ts'
import { mappedJson } from '#gateway/guardrails/json-texts.ts'
import { RemoteChecks } from '#gateway/guardrails/remote-checks.ts'
import { StreamGuard } from '#gateway/guardrails/stream-guard.ts'
import { arrayOf, objectOf, type WireObject } from '#outgoing/wire.ts'
import type { GuardCheck } from '#specs/resources/gateway/guardrails.ts'
import { setOf, words } from './guarded-world.ts'

const guarded = (...checks: readonly GuardCheck[]) =>
  new GuardCall(
    setOf(checks),
    new RemoteChecks({
      guard: { request: () => Promise.reject(new Error('no server')) },
      signingSecrets: async () => null,
      complete: () => Promise.reject(new Error('no model')),
      now: Date.now,
      newId: () => 'msg_1',
    }),
    actorCaller({ project: 'prj_1', tenant: null, user: null }, null),
  )

const answerOf = (message: WireObject, more: WireObject = {}) => ({
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...more }],
})
const called = (text: string) => ({ tool_calls: [{ id: 'c', function: { name: 'f', arguments: text } }] })
const tokens = { content: [{ token: 'falcon', logprob: 0, bytes: null, top_logprobs: [] }] }

describe('a guardrail', () => {
  it.each(['{"a":"x\\nfalcon"}', '{"a":"\\u0066alcon"}', '{"\\u0066alcon":1}', '{"a":"x\\tfalcon'])(
    'finds a word that the escapes of %s hide, in arguments and in results of tools',
    async (json) => {
      const blocked = await guarded(words('block')).answer(answerOf({ content: null, ...called(json) }))
      expect(blocked).toMatchObject({ choices: [{ finish_reason: 'content_filter' }] })
      const messages = [{ role: 'tool', tool_call_id: 'c', content: json }]
      expect(() => guarded(words('block')).input({ messages })).toThrow('blocked')
    },
  )

  it('replaces only what it found in escaped strings', async () => {
    const json = '{"a":"falcon\\n\\"falcon\\"","b":"x\\ty","c":"falcon"}'
    const made = await guarded(words('redact')).answer(answerOf({ content: null, ...called(json) }))
    const [call] = arrayOf(objectOf(objectOf(arrayOf(made.choices)[0]).message).tool_calls)
    expect(objectOf(call).function).toEqual({
      ...{ name: 'f', arguments: '{"a":"[REDACTED]\\n\\"[REDACTED]\\"","b":"x\\ty","c":"[REDACTED]"}' },
    })
  })

  it('leaves nothing of what it replaced in log probabilities, thoughts, transcripts and fields that it does not know', async () => {
    const message = {
      ...{ content: 'the falcon', reasoning_content: 'a falcon', own_field: { text: 'falcon' } },
      thinking_blocks: [{ type: 'thinking', thinking: 'a fal', signature: 's' }, { thinking: 'con' }],
      ...{ reasoning_details: [{ text: 'falcon' }], audio: { transcript: 'falcon', data: '' } },
    }
    const made = await guarded(words('redact')).answer(answerOf(message, { logprobs: tokens }))
    expect(JSON.stringify(made)).not.toMatch(/fal|con"/)
    expect(made).toMatchObject({ choices: [{ message: { content: 'the [REDACTED]' }, logprobs: null }] })
  })

  it('leaves nothing in a stream of what it holds back', async () => {
    const guard = new StreamGuard(guarded(words('redact', 'output')))
    const deltas: readonly WireObject[] = [
      { role: 'assistant', content: 'Yes. ' },
      { content: 'falcon', own_field: 'falcon' },
      { thinking_blocks: [{ type: 'thinking', thinking: 'the falcon', signature: 's' }] },
      { content: ' and so on, for some more words than are held back' },
    ]
    const shown = deltas.map((delta) => guard.chunk({ choices: [{ index: 0, delta, logprobs: tokens }] }))
    const all = JSON.stringify([...shown, ...(await guard.end())])
    expect(all).not.toContain('falcon')
    expect(all).toContain('[REDACTED]')
  })

  it('passes thoughts and arguments on in which it finds nothing', async () => {
    const guard = new StreamGuard(guarded(words('redact', 'output')))
    const thinking_blocks = [{ type: 'thinking', thinking: 'a bird', signature: 's' }]
    guard.chunk({ choices: [{ index: 0, delta: { thinking_blocks } }] })
    expect(await guard.end()).toMatchObject([{ choices: [{ delta: { thinking_blocks } }] }, {}])
    const answer = answerOf({ thinking_blocks, own_field: 1, ...called('{"a":"\\n"}') }, { logprobs: tokens })
    expect(await guarded(words('redact')).answer(answer)).toBe(answer)
  })
})

it('reads the strings of megabytes of escapes and quotes in linear time', () => {
  const hostile = ['"', '\\"'.repeat(1_000_000), '\\'].join('')
  const seen: string[] = []
  mappedJson(
    hostile,
    (text) => {
      seen.push(text)
      return text
    },
    '{}',
  )
  expect(seen.map(({ length }) => length)).toEqual([hostile.length, 1_000_002])
})
