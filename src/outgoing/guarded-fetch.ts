import type { Dispatcher } from 'undici'
import { JsonDepth } from './json-depth.ts'
import type { GuardedRequest, SsrfGuard } from './ssrf-guard.ts'

/** What a library of another's is given in place of `fetch`. */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** What the answers of one conversation may come to. */
export interface FetchLimits {
  /** Bytes of all answers together. */
  readonly maxBytes: number
  /** Levels of objects and lists. */
  readonly maxDepth: number
}

/** An answer is larger or deeper than is read. */
export class AnswerRefused extends Error {
  override readonly name = 'AnswerRefused'
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const withoutBody = new Set([101, 204, 205, 304])

/**
 * `fetch` for a library that makes requests of its own: each goes through the guard, none follows a redirect, and what
 * all answers come to is bounded.
 *
 * @param outer ends every request.
 * @param refused hears of an answer that is too large or too deep: a library may wait for the rest of it.
 */
export const guardedFetch = (
  guard: Pick<SsrfGuard, 'request'>,
  { maxBytes, maxDepth }: FetchLimits,
  { outer, refused = () => {} }: { readonly outer: AbortSignal; readonly refused?: (error: AnswerRefused) => void },
): GuardedFetch => {
  let left = maxBytes
  const refusal = (message: string): AnswerRefused => {
    const error = new AnswerRefused(message)
    refused(error)
    return error
  }
  const check = (bytes: Uint8Array, depth: JsonDepth): void => {
    left -= bytes.length
    if (left < 0) throw refusal(`the answers have more than ${maxBytes} bytes`)
    if (!depth.push(bytes)) throw refusal(`an answer has more than ${maxDepth} levels`)
  }
  return async (url, init = {}) => {
    const signal = init.signal ? AbortSignal.any([outer, init.signal]) : outer
    const body = bodyOf(init.body)
    const answer = await guard.request(String(url), {
      method: methodOf(init.method),
      headers: Object.fromEntries(new Headers(init.headers)),
      signal,
      maxRedirects: 0,
      ...(body !== null && { body }),
    })
    return responseOf(answer, check, maxDepth)
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

const responseOf = (
  { statusCode, headers, body }: Dispatcher.ResponseData,
  check: (bytes: Uint8Array, depth: JsonDepth) => void,
  maxDepth: number,
): Response => {
  const shown = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    for (const each of Array.isArray(value) ? value : [value ?? '']) shown.append(name, each)
  }
  if (withoutBody.has(statusCode)) {
    body.destroy()
    return new Response(null, { status: statusCode, headers: shown })
  }
  const depth = new JsonDepth(maxDepth)
  const parts: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]()
  const stream = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await parts.next()
      if (done) return controller.close()
      try {
        check(value, depth)
      } catch (error) {
        body.destroy()
        throw error
      }
      controller.enqueue(value)
    },
    cancel: () => void body.destroy(),
  })
  return new Response(stream, { status: statusCode, headers: shown })
}
