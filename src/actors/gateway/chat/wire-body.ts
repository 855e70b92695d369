import type { ChatBody } from '../calls/chat-calls.ts'
import { objectOf } from '../wire.ts'

const closingBrace = 0x7d
const usageAsked = Buffer.from(',"stream_options":{"include_usage":true}}')

/** A request's body, parsed, and as which bytes it came. */
export interface AskedBody {
  readonly body: ChatBody
  /** The body as it came, when `body` says nothing else; null when it was made or changed here. */
  readonly bytes: Uint8Array | null
  readonly stream: boolean
}

/** Whether the caller of a stream wants the chunk that has its usage. */
export const asksUsage = (body: ChatBody): boolean => objectOf(body.stream_options).include_usage === true

/**
 * The body for a server that speaks OpenAI's format: the caller's own bytes when nothing has to be changed, else written
 * anew. Fields that we do not know are passed on; a stream is always asked for its usage.
 *
 * @param model as the provider knows it.
 */
export function openAiBody({ body, bytes, stream }: AskedBody, model: string): Uint8Array | string {
  const asUsual = body.model === model && body.models === undefined && body.memory === undefined
  const usage = stream && !asksUsage(body)
  if (bytes !== null && asUsual) {
    if (!usage) return bytes
    if (body.stream_options === undefined) return withUsageAsked(bytes)
  }
  const { models: _models, memory: _memory, ...rest } = body
  const options = usage ? { stream_options: { ...objectOf(body.stream_options), include_usage: true } } : {}
  return JSON.stringify({ ...rest, model, stream, ...options })
}

/** Adds the field before the last brace: a long history is copied, not written anew. */
function withUsageAsked(bytes: Uint8Array): Uint8Array {
  const end = bytes.lastIndexOf(closingBrace)
  const longer = Buffer.allocUnsafe(end + usageAsked.length)
  longer.set(bytes.subarray(0, end))
  longer.set(usageAsked, end)
  return longer
}
