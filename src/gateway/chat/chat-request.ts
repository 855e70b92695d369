import type { FormatRequest } from '../call/chat-format.ts'
import type { Route } from '../call/routes.ts'
import { chatFormat } from '../providers/chat-formats.ts'
import { portableBody } from '../providers/portable-body.ts'
import { type ChatInput, openAiBody } from './wire-body.ts'

/** One chat request in the format of its provider. `format` is null for OpenAI's own, which is passed on. */
export interface ChatRequest {
  /** What follows the route's base path. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string
  readonly format: FormatRequest | null
}

const openAiHeaders = new WeakMap<Route, Headers>()

/** @throws {ServiceError} `invalid_field` for what the route's format cannot say. */
export function chatRequest(asked: ChatInput, route: Route): ChatRequest {
  const format =
    (asked.formatFor?.(route) ?? chatFormat(route.format))?.request(asked.body, route, asked.stream) ?? null
  if (format !== null) {
    return { path: format.path, headers: keyed(format.headers, asked), body: format.body, format }
  }
  const headers = keyed(headersFor(route), asked)
  return { path: '/chat/completions', headers, body: bodyFor(asked, route), format: null }
}

const bodyFor = (asked: ChatInput, route: Route): Uint8Array | string => {
  if (asked.encoded !== undefined) return asked.encoded(route)
  const body = portableBody(asked.body, route)
  return openAiBody(body === asked.body ? asked : { ...asked, body, bytes: null }, route)
}

type Headers = Readonly<Record<string, string>>

const keyed = (headers: Headers, { idempotencyKey }: ChatInput): Headers =>
  idempotencyKey === undefined ? headers : { ...headers, 'idempotency-key': idempotencyKey }

const headersFor = (route: Route): Headers => {
  const known = openAiHeaders.get(route)
  if (known !== undefined) return known
  const { apiKey } = route
  const made = {
    'content-type': 'application/json',
    ...(apiKey !== null && apiKey !== '' && { authorization: `Bearer ${apiKey}` }),
  }
  openAiHeaders.set(route, made)
  return made
}
