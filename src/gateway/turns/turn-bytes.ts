import type { ModelMessage, ModelRequest, ModelTool } from '../call/provider-port.ts'
import { type Route, wireModelOf } from '../call/routes.ts'
import { limitField, takesSampling } from '../chat/wire-body.ts'
import { plainMessage, sentTool, systemMessage } from './turn-body.ts'

const encodedTools = new WeakMap<ModelTool, string>()

/**
 * Returns a request as the JSON body of a streamed chat completion, in UTF-8, for a server of OpenAI's format: without
 * the data that only other providers require back.
 *
 * Messages are immutable and their list only grows, so each is encoded once: a long history costs only a copy of its
 * bytes.
 */
export function turnBytes(request: ModelRequest, route: Route): Buffer {
  const history = encodedHistory(request.messages)
  const tail = tailOf(request, route)
  let head = `{"model":${JSON.stringify(wireModelOf(route))},"stream":true,"stream_options":{"include_usage":true},"messages":[`
  const system = (request.instructions ?? []).map((content) => JSON.stringify(systemMessage(content)))
  head += system.join(',') + (system.length > 0 && history.length > 0 ? ',' : '')
  const headLength = Buffer.byteLength(head)
  const body = Buffer.allocUnsafe(headLength + history.length + Buffer.byteLength(tail))
  body.write(head, 0)
  body.set(history, headLength)
  body.write(tail, headLength + history.length)
  return body
}

function tailOf({ tools, temperature, maxTokens }: ModelRequest, route: Route): string {
  let tail = ']'
  if (tools.length > 0) tail += `,"tools":[${tools.map(encodeTool).join(',')}]`
  if (temperature !== undefined && takesSampling(route)) tail += `,"temperature":${JSON.stringify(temperature)}`
  if (maxTokens !== undefined) tail += `,"${limitField(route)}":${JSON.stringify(maxTokens)}`
  return `${tail}}`
}

/** The encoded messages of one list, joined by commas. */
interface EncodedHistory {
  count: number
  last: ModelMessage | undefined
  bytes: Buffer
  length: number
}

const histories = new WeakMap<readonly ModelMessage[], EncodedHistory>()

function encodedHistory(messages: readonly ModelMessage[]): Buffer {
  let known = histories.get(messages)
  if (known === undefined || messages[known.count - 1] !== known.last) {
    known = { count: 0, last: undefined, bytes: Buffer.alloc(0), length: 0 }
    histories.set(messages, known)
  }
  if (known.count < messages.length) append(known, messages)
  return known.bytes.subarray(0, known.length)
}

function append(known: EncodedHistory, messages: readonly ModelMessage[]): void {
  const fresh = messages.slice(known.count).map((each) => JSON.stringify(plainMessage(each, ({ callId }) => callId)))
  const text = (known.count > 0 ? ',' : '') + fresh.join(',')
  const needed = known.length + Buffer.byteLength(text)
  if (needed > known.bytes.length) {
    // reserve half as much again, so that a growing conversation is not copied at each turn; not from Node's buffer
    // pool, since a retained slice would keep the whole pool in memory
    const grown = Buffer.allocUnsafeSlow(Math.ceil(needed * 1.5))
    known.bytes.copy(grown, 0, 0, known.length)
    known.bytes = grown
  }
  known.length += known.bytes.write(text, known.length)
  known.count = messages.length
  known.last = messages.at(-1)
}

function encodeTool(tool: ModelTool): string {
  const known = encodedTools.get(tool)
  if (known !== undefined) return known
  const encoded = JSON.stringify(sentTool(tool))
  encodedTools.set(tool, encoded)
  return encoded
}
