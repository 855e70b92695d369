import { describe, expect, it } from 'vitest'
import type { ChatBody } from '#gateway/call/chat-calls.ts'
import { betaHeaders, betasOf } from '#gateway/providers/anthropic/anthropic-betas.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { principals } from '#test/transport/api/serving.ts'
import { request, serving } from './messages-world.ts'
import { saying } from './scripted-chat.ts'

describe('a thread of messages', () => {
  const user = (content: string) => ({ role: 'user' as const, content })
  const begun = { ...request, messages: [user('I am Ada.')], thread: { type: 'create' as const } }
  const on = (previous_message_id: string, content = 'Who am I?') => ({
    ...{ ...request, messages: [user(content)], thread: { type: 'continue' as const, previous_message_id } },
  })

  it('is stored and continued by the id of its newest message, with and without streaming', async () => {
    const { anthropic, chat } = serving([
      { deltas: saying('Hello.') },
      { deltas: saying('Ada.') },
      { deltas: saying('Yes.') },
    ])
    const first = await anthropic.beta.messages.create(begun)
    const second = await anthropic.beta.messages.stream(on(first.id)).finalMessage()
    await anthropic.beta.messages.create(on(second.id, 'Sure?'))
    expect(chat.last.messages).toEqual([
      ...[user('I am Ada.'), { role: 'assistant', content: 'Hello.' }],
      ...[user('Who am I?'), { role: 'assistant', content: 'Ada.' }, user('Sure?')],
    ])
  })

  it('works with the thread helper of the official SDK', async () => {
    const { anthropic, chat } = serving([{ deltas: saying('Hello.') }, { deltas: saying('Ada.') }])
    const thread = anthropic.beta.messages.thread({ model: 'model-1', max_tokens: 100 })
    await thread.send(user('I am Ada.'))
    await thread.send(user('Who am I?'))
    expect(chat.received).toHaveLength(2)
    expect(chat.last.messages).toHaveLength(3)
  })

  it('is continued once from each message, and errors have the codes that SDKs read', async () => {
    const { anthropic } = serving([{ deltas: saying('Hello.') }])
    const first = await anthropic.beta.messages.create(begun)
    await anthropic.beta.messages.create(on(first.id))
    const coded = (error_code: string) => ({ error: { error: { details: { error_code } } } })
    const twice = anthropic.beta.messages.create(on(first.id))
    await expect(twice).rejects.toMatchObject({ status: 400, ...coded('thread_already_continued') })
    const unknown = anthropic.beta.messages.create(on('msg_none'))
    await expect(unknown).rejects.toMatchObject({ status: 404, ...coded('thread_not_found') })
  })

  it('stays unchanged when its model fails, and refuses a concurrent continuation', async () => {
    let release = (): void => {}
    const after = new Promise<void>((resolve) => {
      release = resolve
    })
    const failing = { error: new ServiceError('provider_error'), refused: true, after }
    const { anthropic, clock } = serving([{ deltas: saying('Hello.') }, failing, { deltas: saying('Ada.') }])
    const first = await anthropic.beta.messages.create(begun)
    const slow = anthropic.beta.messages.stream(on(first.id)).finalMessage()
    const settled = slow.catch(() => null)
    await expect
      .poll(() => anthropic.beta.messages.create(on(first.id)).catch((error: unknown) => error))
      .toMatchObject({
        error: { error: { details: { error_code: 'thread_continue_in_flight' } } },
      })
    release()
    await settled
    expect((await anthropic.beta.messages.create(on(first.id))).content).toMatchObject([{ text: 'Ada.' }])
    clock.now += 1
  })

  it('is hidden from other projects and the key of another agent', async () => {
    const { anthropic, send } = serving([{ deltas: saying('Hello.') }])
    const { id } = await anthropic.beta.messages.create(begun)
    for (const as of [{ ...principals.secret_key, project: 'prj_other' }, principals.agent_key])
      expect((await send('/v1/messages', on(id), { as })).status).toBe(404)
  })

  it('is not stored when it is longer than 4 MB', async () => {
    const { anthropic } = serving([{ deltas: saying('Hello.') }])
    const first = await anthropic.beta.messages.create({ ...begun, messages: [user('x'.repeat(4_500_000))] })
    await expect(anthropic.beta.messages.create(on(first.id))).rejects.toMatchObject({ status: 404 })
  })

  it('can be continued again when its continuation was too long to store', async () => {
    const { anthropic } = serving([{ deltas: saying('Hello.') }])
    const first = await anthropic.beta.messages.create(begun)
    await anthropic.beta.messages.create(on(first.id, 'x'.repeat(4_500_000)))
    expect((await anthropic.beta.messages.create(on(first.id))).content).toMatchObject([{ text: 'Hello.' }])
  })

  it('requires the id of the message that it continues', async () => {
    const { send } = serving([{}])
    const refused = await send('/v1/messages', { ...request, thread: { type: 'continue' } })
    expect(refused.status).toBe(400)
  })
})

describe('the anthropic-beta header', () => {
  const headersOf = (chat: ChatBody) => betaHeaders(betasOf(chat))

  it('is forwarded to Anthropic and to its models by InvokeModel alone, and refused unless it lists feature names', async () => {
    const headers = { 'anthropic-beta': 'context-1m-2025-08-07,files-api-2025-04-14' }
    const own = serving([{ deltas: saying('x') }], 'anthropic', { provider: 'anthropic' })
    await own.anthropic.messages.create(request, { headers })
    expect(headersOf(own.chat.last)).toEqual(headers)
    const apis = [[{}, headers] as const, [{ api: 'invoke' }, headers] as const, [{ api: 'converse' }, {}] as const]
    for (const [settings, sent] of apis) {
      const seller = { model: 'us.anthropic.claude-opus-4-6-v1', provider: 'bedrock', settings }
      const cloud = serving([{ deltas: saying('x') }], 'bedrock', seller)
      await cloud.anthropic.messages.create(request, { headers })
      expect(headersOf(cloud.chat.last), JSON.stringify(settings)).toEqual(sent)
    }
    const other = serving([{ deltas: saying('x') }])
    await other.anthropic.messages.create(request, { headers })
    expect(headersOf(other.chat.last)).toEqual({})
    const chat = { messages: [], anthropic_betas: 'a-1\r\nx-api-key: other, \u0100, b-2' }
    expect(headersOf(chat), 'also where a chat has the field itself').toEqual({ 'anthropic-beta': 'b-2' })
    const odd = own.anthropic.messages.create(request, { headers: { 'anthropic-beta': 'a b; c' } })
    await expect(odd).rejects.toMatchObject({ status: 400 })
  })
})
