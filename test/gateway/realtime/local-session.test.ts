import { describe, expect, it } from 'vitest'
import { LocalSession } from '#gateway/realtime/local-session.ts'
import { errorEvent } from '#gateway/realtime/server-event.ts'
import { Voices } from '#gateway/realtime/speech/voices.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { calling, type Script, ScriptedChat, saying } from '../apis/scripted-chat.ts'
import { callerOf } from '../ledger/calls.ts'

const refused = (): never => {
  throw new Error('there is no speech')
}
const transcribe = async ({ request }: { readonly request: { readonly file: { readonly bytes: Uint8Array } } }) => ({
  ...{ json: { text: `${request.file.bytes.length - 44} bytes` }, headers: [] },
})
const voice = { speech: { speak: refused }, transcription: { transcribe } }

const open = (...scripts: readonly Script[]) => {
  const events: WireObject[] = []
  const caller = callerOf()
  const chats = new ScriptedChat(...scripts)
  const model = { chats, caller, model: 'model-1', budget: null }
  const session = new LocalSession({
    client: { send: (event) => events.push(JSON.parse(event)) > 0, close: () => {} },
    ...{ model: 'model-1', voices: new Voices(voice, caller, null), expiresAtMs: 0, answers: { model } },
    config: { output_modalities: ['text'] },
  })
  const send = async (event: WireObject): Promise<void> => {
    try {
      await session.take(event)
    } catch (error) {
      events.push(JSON.parse(errorEvent(error)))
    }
  }
  const done = () => expect.poll(() => events.some(({ type }) => type === 'response.done')).toBe(true)
  return { chats, send, done, of: (type: string) => events.filter((event) => event.type === type) }
}

const says = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }
const respond = { type: 'response.create' }

describe('a realtime session of this server', () => {
  it('refuses with the codes of the protocol, which clients ignore or wait by', async () => {
    const { send, of } = open({ after: new Promise(() => {}) })
    await send({ type: 'response.cancel' })
    await send({ type: 'input_audio_buffer.commit' })
    await send({ type: 'conversation.item.retrieve', item_id: 'item_none' })
    await send({ type: 'conversation.item.delete', item_id: 'item_none' })
    await send({ type: 'conversation.item.truncate', item_id: 'item_none', content_index: 0, audio_end_ms: 0 })
    await send(respond)
    await send(respond)
    expect(of('error').map(({ error }) => error)).toMatchObject([
      { type: 'invalid_request_error', code: 'response_cancel_not_active' },
      { type: 'invalid_request_error', code: 'input_audio_buffer_commit_empty' },
      { type: 'invalid_request_error', code: 'item_retrieve_invalid_item_id' },
      { type: 'invalid_request_error', code: 'item_delete_invalid_item_id' },
      { type: 'invalid_request_error', code: 'item_truncate_invalid_item_id' },
      { type: 'invalid_request_error', code: 'conversation_already_has_active_response' },
    ])
  })

  it('refuses what it would not do: transcripts alone, and stored prompts', async () => {
    const { send, of } = open()
    await send({ type: 'session.update', session: { type: 'transcription' } })
    await send({ type: 'session.update', session: { type: 'realtime', prompt: { id: 'pmpt_1' } } })
    await send({ type: 'session.update', session: { type: 'realtime', prompt: null } })
    expect(of('error').map(({ error }) => error)).toMatchObject([
      { param: 'session.type' },
      { param: 'session.prompt' },
    ])
    expect(of('session.updated')).toHaveLength(1)
  })

  it('names the item before the answer when it is added and when it is done', async () => {
    const { send, of, done } = open({ deltas: saying('Hello.') })
    await send({ type: 'conversation.item.create', item: { ...says, id: 'item_user' } })
    await send(respond)
    await done()
    for (const type of ['conversation.item.added', 'conversation.item.done'])
      expect(of(type).map(({ previous_item_id }) => previous_item_id)).toEqual([null, 'item_user'])
  })

  it('gives a call without arguments an empty object, which clients parse', async () => {
    const { send, of, done } = open({ deltas: calling(0, 'call_1', 'look_up'), finishReason: 'tool_calls' })
    await send(respond)
    await done()
    expect(of('response.function_call_arguments.done')).toMatchObject([{ call_id: 'call_1', arguments: '{}' }])
  })

  it('hears each part of an item that is audio, and keeps the parts beside it', async () => {
    const { send, of, done, chats } = open({ deltas: saying('Yes.') })
    const audio = (bytes: number) => ({ type: 'input_audio', audio: Buffer.alloc(bytes).toString('base64') })
    const content = [{ type: 'input_text', text: 'Translate:' }, audio(4_800), audio(9_600)]
    await send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } })
    await send(respond)
    await done()
    const heard = of('conversation.item.input_audio_transcription.completed')
    expect(heard.map(({ content_index, transcript }) => [content_index, transcript])).toEqual([
      [1, '4800 bytes'],
      [2, '9600 bytes'],
    ])
    expect(chats.last.messages).toEqual([{ role: 'user', content: 'Translate:\n4800 bytes\n9600 bytes' }])
  })
})
