import type { ChatBody } from '#gateway/call/chat-calls.ts'
import type { AnswerEnd, ChatDecoder, ChatFormat, FormatRequest } from '#gateway/call/chat-format.ts'
import { AttemptFailed } from '#gateway/call/failure.ts'
import type { Route } from '#gateway/call/routes.ts'
import { anthropicFormat } from '#gateway/providers/anthropic/anthropic-format.ts'
import { googleFormat } from '#gateway/providers/google/google-format.ts'
import { isObject, type WireObject } from '#outgoing/wire.ts'

const heads = { now: () => 1_700_000_000_500, newId: () => 'chatcmpl-1' }

/** The formats with a fixed clock. */
export const formats: Readonly<Record<'anthropic' | 'google', ChatFormat>> = {
  anthropic: anthropicFormat(heads),
  google: googleFormat(heads),
}

export const routeTo = (format: 'anthropic' | 'google', model: string): Route => ({
  model,
  provider: format,
  format,
  baseUrl: 'https://provider.test/v1',
  apiKey: 'key-1',
  source: 'byok',
  connectionId: 'con_1',
})

/** The parsed body of a request. */
export function sent(format: 'anthropic' | 'google', model: string, body: ChatBody): Record<string, unknown> {
  const { body: text } = formats[format].request(body, routeTo(format, model), false)
  const parsed: unknown = JSON.parse(String(text))
  if (!isObject(parsed)) throw new Error('no object')
  return parsed
}

export const requestOf = (format: 'anthropic' | 'google', model: string, body: ChatBody = hello): FormatRequest =>
  formats[format].request(body, routeTo(format, model), true)

export const hello: ChatBody = { messages: [{ role: 'user', content: 'Hello' }] }

/** All chunks that a decoder emits for the parts, and the end of the answer. */
export function decoded(decoder: ChatDecoder, parts: readonly Uint8Array[]): { chunks: WireObject[]; end: AnswerEnd } {
  const chunks = parts.flatMap((part) => [...decoder.push(part)])
  const { chunks: rest, end } = decoder.finish()
  return { chunks: [...chunks, ...rest], end }
}

/** The code of the failure that `run` throws; null when it throws none. */
export function failureCode(run: () => unknown): string | null {
  try {
    run()
    return null
  } catch (thrown) {
    if (thrown instanceof AttemptFailed) return thrown.error.code
    throw thrown
  }
}

/** Server-sent events in the format of a provider. */
export const sse = (...events: readonly WireObject[]): Uint8Array =>
  Buffer.from(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
