import type { ByteStream } from '#actors/call/call.ts'
import type { BytesResult } from '#actors/call/use-cases.ts'
import type { TokenUsage } from '../prices/usage.ts'

/** Usage in the last event of a speech stream; all zeros when the provider counts no tokens. */
interface SpeechUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
}

const frame = (event: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

const delta = (audio: Uint8Array): string =>
  frame({ type: 'speech.audio.delta', audio: Buffer.from(audio).toString('base64') })

const usageOf = (tokens: TokenUsage | null): SpeechUsage => {
  const { inputTokens = 0, outputTokens = 0 } = tokens ?? {}
  return { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens }
}

const done = (tokens: TokenUsage | null): string => frame({ type: 'speech.audio.done', usage: usageOf(tokens) })

/**
 * Formats speech as the events of OpenAI's `stream_format: sse`: a `speech.audio.delta` with base64 for each chunk of
 * audio, then `speech.audio.done`. A stream that breaks off ends without the latter.
 *
 * @param tokens the provider's token usage, known when the audio is complete; zeros are reported when it counts none.
 */
export const speechEvents = (answer: BytesResult, tokens: () => TokenUsage | null): BytesResult => {
  const { bytes, headers } = answer
  const head = { contentType: 'text/event-stream; charset=utf-8', ...(headers !== undefined && { headers }) }
  if (bytes instanceof Uint8Array) return { ...head, bytes: delta(bytes) + done(tokens()) }
  if (typeof bytes === 'object' && 'start' in bytes) return { ...head, bytes: asEvents(bytes, tokens) }
  throw new TypeError('speech is bytes or a stream of them')
}

const asEvents = (audio: ByteStream, tokens: () => TokenUsage | null): ByteStream => ({
  start: (sink) =>
    audio.start({
      push: (part) => sink.push(Buffer.from(delta(Buffer.from(part)))),
      end: (last) => {
        if (last !== undefined) sink.push(Buffer.from(delta(Buffer.from(last))))
        sink.end(Buffer.from(done(tokens())))
      },
      abort: () => sink.abort(),
    }),
})
