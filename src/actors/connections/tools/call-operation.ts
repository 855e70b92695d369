import { boundedBody } from '#outgoing/bounded-body.ts'
import { isBelow } from '#outgoing/credential-address.ts'
import { RedirectFailed, type SsrfGuard, SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { isObject } from '#runtime/index.ts'
import type { Json, JsonObject } from '#storage/index.ts'
import type { HttpOperation } from './http-operation.ts'

/** A request that is ready to be sent. Header names are in lower case. */
export interface BuiltRequest {
  readonly url: string
  readonly method: HttpOperation['method']
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** A service's response, or the reason why there is none. */
export type ServiceAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly text: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }

/** Maximum size of a response that a model reads, in bytes. */
const maxAnswerBytes = 64 * 1024
const timeoutMs = 30_000

/** Headers that arguments cannot set, since they belong to the request itself or to its sender. */
const reserved = new Set([
  ...['authorization', 'cookie', 'host', 'content-type', 'content-length', 'connection', 'transfer-encoding'],
  ...['proxy-authorization', 'idempotency-key', 'x-forwarded-for', 'forwarded', 'upgrade', 'te', 'trailer', 'expect'],
])

/** Thrown when a model's arguments do not form a valid request. The message is for the model. */
export class ArgumentsRefused extends Error {
  override readonly name = 'ArgumentsRefused'
}

/** Builds a request of an operation with a model's arguments. @throws {ArgumentsRefused} */
export const buildRequest = (operation: HttpOperation, baseUrl: string, given: Json): BuiltRequest => {
  const args = isObject(given) ? given : {}
  const known = isObject(operation.parameters.properties) ? operation.parameters.properties : {}
  const needed = Array.isArray(operation.parameters.required) ? operation.parameters.required : []
  const missing = needed.find((name) => args[String(name)] === undefined)
  if (missing !== undefined) throw new ArgumentsRefused(`The argument ${String(missing)} is missing.`)
  const sent = Object.entries(args).filter(([name, value]) => Object.hasOwn(known, name) && value !== null)
  const inPath = new Set<string>()
  const path = operation.path.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    inPath.add(name)
    return segment(name, args[name])
  })
  const url = new URL(baseUrl + path)
  // dot segments of an imported path would send the secrets of this base URL to another party at its host
  if (!isBelow(url, baseUrl)) throw new ArgumentsRefused('The path of this operation leaves the base URL.')
  const headers: Record<string, string> = { accept: 'application/json, text/*;q=0.9' }
  const body: Record<string, Json> = {}
  for (const [name, value = null] of sent) {
    if (inPath.has(name)) continue
    const place = operation.places[name] ?? (isReading(operation) ? 'query' : 'body')
    if (place === 'query') addQuery(url, name, value)
    else if (place === 'header') addHeader(headers, name, value)
    else body[name] = value
  }
  return { url: url.href, method: operation.method, ...withBody(operation, headers, body) }
}

const isReading = ({ method }: HttpOperation): boolean => method === 'GET' || method === 'DELETE'

/** Encodes a value as a single path segment that cannot traverse the path. */
const segment = (name: string, value: Json | undefined): string => {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  if (text === '' || text === '.' || text === '..' || !text.isWellFormed())
    throw new ArgumentsRefused(`The argument ${name} cannot be used in a URL.`)
  return encodeURIComponent(text)
}

const addQuery = (url: URL, name: string, value: Json): void => {
  for (const each of Array.isArray(value) ? value : [value]) url.searchParams.append(name, textOf(each))
}

const addHeader = (headers: Record<string, string>, name: string, value: Json): void => {
  const text = textOf(value)
  if (reserved.has(name.toLowerCase()) || !/^[!-~][ -~]*$/.test(text))
    throw new ArgumentsRefused(`The argument ${name} cannot be sent as a header.`)
  headers[name.toLowerCase()] = text
}

const textOf = (value: Json): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))

const withBody = (
  operation: HttpOperation,
  headers: Record<string, string>,
  fields: JsonObject,
): Pick<BuiltRequest, 'headers' | 'body'> => {
  const whole = operation.whole_body
  const body = whole === null ? fields : (fields[whole] ?? {})
  const isEmpty = whole === null && Object.keys(fields).length === 0
  if (operation.method === 'GET' || (isEmpty && operation.method === 'DELETE')) return { headers }
  if (operation.encoding === 'form' && isObject(body)) {
    const form = new URLSearchParams()
    for (const [name, value] of Object.entries(body)) form.append(name, textOf(value ?? null))
    return { headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' }, body: form.toString() }
  }
  return { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/**
 * Sends a request through the SSRF guard, which withholds the secrets from any other origin. Failures of the network or
 * service are returned, not thrown.
 */
export const sendRequest = async (
  guard: Pick<SsrfGuard, 'request'>,
  { url, method, headers, body }: BuiltRequest,
  { secrets, signal }: { readonly secrets: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<ServiceAnswer> => {
  const limit = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await guard.request(url, {
      kind: 'connection_tool',
      method,
      headers: { ...headers, ...secrets },
      credentials: Object.keys(secrets),
      ...(body !== undefined && { body }),
      signal: AbortSignal.any([limit, signal]),
      maxRedirects: method === 'GET' ? 3 : 0,
    })
    const { bytes, isCut } = await boundedBody(answer.body, { maxBytes: maxAnswerBytes })
    const type = String(answer.headers['content-type'] ?? 'text/plain')
    if (!/^(text\/|application\/([\w.-]+\+)?(json|xml))/i.test(type) && bytes.length > 0)
      return {
        kind: 'failed',
        code: 'answer_unreadable',
        message: 'The service responded with something other than text.',
      }
    const text = `${bytes.toString()}${isCut ? '\n[The response was truncated.]' : ''}`
    return { kind: 'answered', status: answer.statusCode, text }
  } catch (error) {
    if (error instanceof SsrfRefused || error instanceof RedirectFailed)
      return { kind: 'failed', code: 'address_refused', message: `The URL is refused: ${error.message}.` }
    if (signal.aborted) return { kind: 'failed', code: 'cancelled', message: 'The call was cancelled.' }
    if (limit.aborted) return { kind: 'failed', code: 'timeout', message: 'The service did not respond in time.' }
    return { kind: 'failed', code: 'unreachable', message: 'The service cannot be reached.' }
  }
}
