import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ModelMessage, ModelRequest } from '#gateway/call/provider-port.ts'
import type { Route } from '#gateway/call/routes.ts'
import { openAiBody } from '#gateway/chat/wire-body.ts'
import { turnBody } from '#gateway/turns/turn-body.ts'
import { turnBytes } from '#gateway/turns/turn-bytes.ts'
import { routeOf } from './turn-world.ts'

const route = routeOf('openai', { url: 'http://127.0.0.1:9' }, 'm')

const bodyOf = (messages: readonly ModelMessage[], more: Partial<ModelRequest> = {}) =>
  JSON.parse(turnBytes({ model: 'm', messages, tools: [], idempotencyKey: 'k', ...more }, route).toString())

const user = (content: string): ModelMessage => ({ role: 'user', content })

it('a growing list is encoded the same as without a cache', () => {
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

it('instructions precede the history, or stand alone without one', () => {
  const system = { role: 'system', content: 'Be "brief" é' }
  const instructions = [system.content]
  expect(bodyOf([], { instructions }).messages).toEqual([system])
  expect(bodyOf([user('hi')], { instructions }).messages).toEqual([system, user('hi')])
})

it('a list with replaced messages is encoded again', () => {
  const messages = [user('one'), user('two')]
  bodyOf(messages)
  messages.splice(0, 2, user('other'))
  expect(bodyOf(messages).messages).toEqual([user('other')])
})

describe('the options of a request', () => {
  const own = { ...route, baseUrl: 'https://api.openai.com/v1' }
  const requested = { messages: [user('hi')], temperature: 0.5, maxTokens: 9 }
  /** The same request in the body that is sent after redaction. */
  const rewritten = (request: ModelRequest, to: Route) =>
    JSON.parse(openAiBody({ body: turnBody(request), bytes: null, stream: true, translated: true }, to).toString())

  it.each([
    ['gpt-4o-mini', own, { max_completion_tokens: 9, temperature: 0.5 }],
    ['o3', own, { max_completion_tokens: 9 }],
    ['o3', route, { max_tokens: 9, temperature: 0.5 }],
  ])('have the names of the server, and sampling is sent only to models that accept it: %s', (model, to, limits) => {
    const request = { ...requested, model, tools: [], idempotencyKey: 'k' }
    const by = { ...to, model }
    const head = { model, stream: true, stream_options: { include_usage: true }, messages: requested.messages }
    expect(JSON.parse(turnBytes(request, by).toString())).toEqual({ ...head, ...limits })
    expect(rewritten(request, by)).toEqual({ ...head, ...limits })
  })
})
