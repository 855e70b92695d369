/*
 * Sessions for `useChat` of Vercel's AI SDK.
 *
 * const { messages, sendMessage } = useChat({ transport: chatTransport(troupe) })
 */
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai'
import { TroupeError } from '../errors.ts'
import type { Troupe, TurnOptions } from '../index.ts'
import { asFields } from '../schema.ts'
import { replayedStream, type StreamEnd } from './replayed-stream.ts'

/** What the requests of a transport have beside the messages. */
export interface ChatTransportOptions {
  /** Body of `sessions.create`, for a chat whose id is not that of a session: its first message creates one. */
  readonly create?: Readonly<Record<string, unknown>>
  /** Gets the id of a session that a message created, for example for the address of the page. */
  readonly onSession?: (sessionId: string) => void
  /** Fields of each turn, such as `tools`. */
  readonly body?: TurnOptions
}

const done = '[DONE]'

/**
 * A transport of `useChat` with the credential of a client. A message is sent once, whatever breaks, and its stream goes on after
 * the network or the server was away. The chat's `id` is that of a session, or of a new chat.
 */
export const chatTransport = <M extends UIMessage = UIMessage>(
  client: Troupe,
  { create = {}, onSession, body: fields }: ChatTransportOptions = {},
): ChatTransport<M> => {
  const created = new Map<string, Promise<string>>()
  const make = async (): Promise<string> => {
    const response = await client.request('POST', '/v1/sessions', { body: create })
    const id = `${asFields(await response.json()).id}`
    onSession?.(id)
    return id
  }
  const sessionOf = (chatId: string): Promise<string> | string => {
    if (chatId.startsWith('ses_')) return chatId
    const session = created.get(chatId) ?? make()
    created.set(chatId, session)
    session.catch(() => created.delete(chatId))
    return session
  }
  const stream = (signal: AbortSignal | undefined, send: (signal: AbortSignal) => Promise<Response>, length = 0) =>
    replayedStream<UIMessageChunk>({
      ...{ send, signal, length },
      chunk: (data) => (data === done ? null : asFields(JSON.parse(data))),
      endOf,
      restarted,
      options: client.options,
    })
  const pathOf = (session: string): string => `/v1/sessions/${encodeURIComponent(session)}/ui-messages`
  return {
    resumeStreamIsReplay: true,
    sendMessages: async ({ chatId, messages, trigger, messageId, body, abortSignal }) => {
      const path = pathOf(await sessionOf(chatId))
      // the session has the others
      const read = messages.filter(({ id }, at) => id === messageId || at === messages.length - 1)
      const request = {
        body: { ...fields, ...body, messages: read, trigger, messageId },
        idempotencyKey: crypto.randomUUID(),
      }
      const send = (signal: AbortSignal) => client.request('POST', path, { ...request, signal })
      const sent = await stream(abortSignal, send, JSON.stringify(read).length)
      return sent ?? new ReadableStream({ start: (controller) => controller.close() })
    },
    reconnectToStream: async ({ chatId, abortSignal }) => {
      if (!chatId.startsWith('ses_') && !created.has(chatId)) return null
      const session = await sessionOf(chatId)
      const path = `${pathOf(session)}/${encodeURIComponent(session)}/stream`
      return stream(abortSignal, (signal) => client.request('GET', path, { signal }))
    },
  }
}

const endOf = (data: string): StreamEnd | null => {
  if (data === done) return 'whole'
  return asFields(JSON.parse(data)).code === 'credential_ended' ? 'again' : null
}

const resetStep = '{"type":"reset-step"}'

/** What a crash made void is text of the step in progress. A message that begins as another one belongs to a later turn. */
const restarted = (data: string): readonly string[] => {
  if (!data.startsWith('{"type":"start"')) return data === resetStep ? [data] : [resetStep, data]
  throw new TroupeError('Another turn has begun meanwhile: load the messages of the session.', { code: 'connection' })
}
