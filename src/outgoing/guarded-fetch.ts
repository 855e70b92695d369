import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { JsonDepth } from './json-depth.ts'
import type { OutgoingKind } from './outgoing-watch.ts'
import type { GuardedRequest, SsrfGuard } from './ssrf-guard.ts'

/** A replacement for `fetch`, for third-party libraries. */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** Limits of one conversation. */
export interface FetchLimits {
  /** Bytes of all answers together. */
  readonly maxBytes: number
  /** Maximum nesting of objects and arrays. */
  readonly maxDepth: number
  /** Maximum number of names, strings, objects and arrays of one message, which the reader parses in one go. */
  readonly maxValues: number
  /** Maximum number of requests in the conversation: each question of the server is answered by a request. */
  readonly maxRequests: number
}

/** An answer exceeds the size or nesting limit, or the conversation its number of requests. */
export class AnswerRefused extends Error {
  override readonly name = 'AnswerRefused'
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const withoutBody = new Set([101, 204, 205, 304])

/**
 * Returns a `fetch` for a library that makes its own requests: each goes through the guard, none follows a redirect,
 * and the total size of all answers is limited.
 *
 * @param outer aborts every request.
 * @param refused called when a limit is exceeded: the library might otherwise wait for the rest of the answer.
 */
export const guardedFetch = (
  guard: Pick<SsrfGuard, 'request'>,
  { maxBytes, maxDepth, maxValues, maxRequests }: FetchLimits,
  {
    kind,
    outer,
    refused = () => {},
  }: {
    readonly kind: OutgoingKind
    readonly outer: AbortSignal
    readonly refused?: (error: AnswerRefused) => void
  },
): GuardedFetch => {
  let left = maxBytes
  let requests = 0
  const refusal = (message: string): AnswerRefused => {
    const error = new AnswerRefused(message)
    refused(error)
    return error
  }
  const check = (bytes: Uint8Array, depth: JsonDepth): void => {
    left -= bytes.length
    if (left < 0) throw refusal(`the answers have more than ${maxBytes} bytes`)
    if (!depth.push(bytes)) throw refusal(`an answer has more than ${maxDepth} levels or ${maxValues} values`)
  }
  return async (url, init = {}) => {
    if (++requests > maxRequests) throw refusal(`a conversation has more than ${maxRequests} requests`)
    const signal = init.signal ? AbortSignal.any([outer, init.signal]) : outer
    const body = bodyOf(init.body)
    const answer = await guard.request(String(url), {
      kind,
      method: methodOf(init.method),
      headers: Object.fromEntries(new Headers(init.headers)),
      signal,
      maxRedirects: 0,
      ...(body !== null && { body }),
    })
    return responseOf(answer, {
      check,
      refusal,
      depth: (isStream) => new JsonDepth(maxDepth, { maxValues, isStream }),
    })
  }
}

const methodOf = (method = 'GET'): GuardedRequest['method'] => {
  const known = methods.find((each) => each === method.toUpperCase())
  if (known === undefined) throw new TypeError(`no request of the method ${method}`)
  return known
}

const bodyOf = (body: RequestInit['body']): string | null => {
  if (body === undefined || body === null) return null
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new TypeError('only text is sent')
}

interface Checks {
  /** @throws {AnswerRefused} */
  readonly check: (bytes: Uint8Array, depth: JsonDepth) => void
  readonly refusal: (message: string) => AnswerRefused
  readonly depth: (isStream: boolean) => JsonDepth
}

/** Bytes of an event stream that are passed on in one turn of the loop: each event is work for its reader. */
const turnBytes = 4096

const responseOf = (
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { check, refusal, depth: newDepth }: Checks,
): Response => {
  const shown = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    for (const each of Array.isArray(value) ? value : [value ?? '']) shown.append(name, each)
  }
  if (withoutBody.has(statusCode)) {
    body.destroy()
    return new Response(null, { status: statusCode, headers: shown })
  }
  const isStream = /text\/event-stream/i.test(shown.get('content-type') ?? '')
  const depth = newDepth(isStream)
  const parts: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]()
  let rest: Uint8Array = new Uint8Array()
  let isBeginning = true
  const stream = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      if (isStream) await nextTurn()
      if (rest.length === 0) {
        const { done, value } = await parts.next()
        if (done) return controller.close()
        try {
          check(value, depth)
          // a batch of messages would be handled in one go
          const first = isBeginning && !isStream ? value.find((byte) => !blanks.has(byte)) : undefined
          if (first === bracket) throw refusal('an answer is a list')
          isBeginning &&= first === undefined
        } catch (error) {
          body.destroy()
          throw error
        }
        rest = value
      }
      const length = isStream ? turnBytes : rest.length
      controller.enqueue(rest.subarray(0, length))
      rest = rest.subarray(length)
    },
    cancel: () => void body.destroy(),
  })
  return new Response(stream, { status: statusCode, headers: shown })
}

/** JSON whitespace, and the bytes of a byte order mark. */
const blanks: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf])
const bracket = 0x5b
