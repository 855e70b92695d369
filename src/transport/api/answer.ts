import type { ByteStream, StreamAnswer } from '#actors/call/call.ts'
import type { EventReader } from '#actors/call/speaker.ts'
import type { BytesResult } from '#actors/call/use-cases.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { eventsOf, type JsonAnswer } from '#specs/dsl/answer.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { Gate } from '#src/concurrency/gate.ts'
import type { BodyWriter, Headers } from '../http/http-port.ts'
import { ofOneAttempt } from '../streams/one-attempt.ts'
import { translatorOf } from '../streams/protocols/translator-of.ts'
import type { SseStreams } from '../streams/sse.ts'
import { addHeaders, type Exchange, onGone } from './exchange.ts'
import { asBytes, asChoice, asObject, asStream, asStreamQuery, asWithHeaders } from './schema.ts'
import { sendTagged } from './tagged.ts'

/** Headers of an answer that repeats the answer to the first request with this idempotency key. */
export const replayedHeaders: Headers = [['idempotent-replayed', 'true']]

const jsonType = ['content-type', 'application/json; charset=utf-8'] as const
const uncached = ['cache-control', 'no-store'] as const

/** The result of a use-case, and how it is sent. */
interface Answered {
  readonly result: unknown
  readonly query: unknown
  readonly reader: EventReader
  readonly streams: SseStreams
}

/**
 * Sends the result of a use-case in the form its operation declares; a long document is serialised over several loop
 * turns.
 *
 * @returns the status.
 */
export const answer = (
  exchange: Exchange,
  { answer: declared, headers, tagged }: Operation,
  { result, query, reader, streams }: Answered,
): number | Promise<number> => {
  addHeaders(exchange, headers)
  switch (declared.kind) {
    case 'json':
      return sendDocument(exchange, declared, { result, tagged })
    case 'events':
      return sendEvents(exchange, asStream(result), { query, reader, endless: declared.resumable, streams })
    case 'bytes':
      return sendBytes(exchange, declared.status, { result: asBytes(result), tagged })
    case 'choice': {
      const { json, events, bytes, headers: own = [] } = asChoice(result)
      if (events !== undefined)
        return sendEvents(exchange, events, { query, reader, endless: eventsOf(declared)?.resumable ?? false, streams })
      if (bytes !== undefined) return sendBytes(exchange, declared.json.status, { result: bytes })
      addHeaders(exchange, own)
      return sendDocument(exchange, declared.json, { result: json })
    }
  }
}

const sendDocument = (
  exchange: Exchange,
  declared: JsonAnswer<unknown>,
  { result, tagged = false }: { readonly result: unknown; readonly tagged?: boolean | undefined },
): number | Promise<number> => {
  const { body, headers } = declared.withHeaders ? asWithHeaders(result) : { body: result, headers: [] }
  addHeaders(exchange, headers)
  if (declared.secret) addHeaders(exchange, [uncached])
  const head = [jsonType, ...exchange.headers]
  if (tagged)
    return sendTagged(exchange, declared.status, {
      headers: head,
      result: asObject(body),
      bodyOf: () => JSON.stringify(body),
    })
  const send = (written: string | Uint8Array): number => {
    hold(exchange, written)
    exchange.response.send(declared.status, head, written)
    return declared.status
  }
  const written = encodeJson(asObject(body))
  return written instanceof Promise ? written.then(send) : send(written)
}

/**
 * Counts the answer's memory.
 *
 * @throws {ServiceError} `overloaded` for a long answer beyond the memory, if the request can be repeated
 */
const hold = ({ answerMemory, request }: Exchange, { length }: string | Uint8Array): void =>
  answerMemory?.hold(length, request.method === 'GET')

const sendEvents = (
  exchange: Exchange,
  { stream, replayed, protocol, isEmpty }: StreamAnswer,
  { query, reader, endless, streams }: Omit<Answered, 'result'> & { readonly endless: boolean },
): number => {
  if (replayed) addHeaders(exchange, replayedHeaders)
  if (isEmpty === true) {
    exchange.response.send(204, exchange.headers, '')
    return 204
  }
  const isWhole = protocol !== undefined || asStreamQuery(query).restarts === true
  streams.serve(isWhole ? stream : ofOneAttempt(stream), exchange.response, {
    ...(protocol !== undefined && { translator: translatorOf(protocol, reader) }),
    shortNames: wantsShortNames(exchange, query),
    reader,
    headers: exchange.headers,
    endless,
    recheck: exchange.recheck,
    grow: (bytes) => exchange.answerMemory?.grow(bytes) ?? true,
  })
  return 200
}

/** Whether the client wants short event names: header `X-Event-Names: short` or query `event_names=short`. */
const wantsShortNames = ({ request }: Exchange, query: unknown): boolean =>
  asStreamQuery(query).event_names === 'short' || request.header('x-event-names') === 'short'

const sendBytes = (
  exchange: Exchange,
  status: number,
  { result, tagged = false }: { readonly result: BytesResult; readonly tagged?: boolean | undefined },
): number => {
  const { contentType, bytes, headers = [] } = result
  const head = [['content-type', contentType] as const, ...exchange.headers, ...headers]
  if (typeof bytes === 'string' || bytes instanceof Uint8Array) {
    if (!tagged) hold(exchange, bytes)
    if (tagged) return sendTagged(exchange, status, { headers: head, result, bodyOf: () => bytes })
    exchange.response.send(status, head, bytes)
    return status
  }
  if ('base64' in bytes && bytes.broken !== true) {
    exchange.response.send(status, head, Buffer.from(bytes.base64, 'base64'))
    return status
  }
  const writer = exchange.response.stream(status, head)
  if ('base64' in bytes) {
    writer.write(Buffer.from(bytes.base64, 'base64'))
    // bytes written in the same task as the abort might never be sent
    setImmediate(() => writer.abort())
    return status
  }
  if ('start' in bytes) relay(bytes, writer, exchange)
  else void pour(bytes, writer, exchange)
  return status
}

/** Forwards a pushed stream to the client. A slow reader pauses the source; a disconnected one stops it. */
const relay = (bytes: ByteStream, writer: BodyWriter, exchange: Exchange): void => {
  const control = bytes.start({
    push: (part) => writer.write(part),
    end: (last) => writer.end(last),
    abort: () => writer.abort(),
  })
  writer.onDrain(() => control.resume())
  onGone(exchange, () => control.stop())
}

/**
 * Writes parts as the source yields them, no faster than the client reads. If the source throws, the body ends without
 * a clean end.
 */
const pour = async (
  parts: AsyncIterable<string | Uint8Array>,
  writer: BodyWriter,
  exchange: Exchange,
): Promise<void> => {
  const { response } = exchange
  const gate = new Gate()
  writer.onDrain(() => gate.open())
  onGone(exchange, () => gate.open())
  try {
    for await (const part of parts) {
      if (response.closed) return
      if (!writer.write(part)) await gate.closed()
    }
    writer.end()
  } catch {
    response.fail()
  }
}
