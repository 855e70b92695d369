import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeChatRequest } from '../../../src/actors/gateway/openai-wire.ts'
import type { ModelMessage, ModelRequest } from '../../../src/actors/gateway/provider-port.ts'

const dialect = { maxTokensField: 'max_tokens', acceptsTemperature: () => true } as const

const bodyOf = (messages: readonly ModelMessage[], more: Partial<ModelRequest> = {}) =>
  JSON.parse(encodeChatRequest({ model: 'm', messages, tools: [], idempotencyKey: 'k', ...more }, dialect).toString())

const user = (content: string): ModelMessage => ({ role: 'user', content })

it('encodes a list that grows as if it was encoded anew each time', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.string({ unit: 'binary' }), { maxLength: 4 }), { maxLength: 8 }), (parts) => {
      const messages: ModelMessage[] = []
      for (const part of parts) {
        messages.push(...part.map(user))
        expect(bodyOf(messages).messages).toEqual(messages)
      }
    }),
  )
})

it('puts instructions before the history, with and without one', () => {
  const system = { role: 'system', content: 'Be "brief" é' }
  const instructions = [system.content]
  expect(bodyOf([], { instructions }).messages).toEqual([system])
  expect(bodyOf([user('hi')], { instructions }).messages).toEqual([system, user('hi')])
})

it('takes nothing over from a list whose messages were replaced', () => {
  const messages = [user('one'), user('two')]
  bodyOf(messages)
  messages.splice(0, 2, user('other'))
  expect(bodyOf(messages).messages).toEqual([user('other')])
})
