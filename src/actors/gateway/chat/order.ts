import type { Route } from '../calls/routes.ts'
import type { FormatRequest } from '../formats/chat-format.ts'
import { chatFormat } from '../formats/chat-formats.ts'
import { portableBody } from '../formats/portable-body.ts'
import { type AskedBody, openAiBody } from './wire-body.ts'

/** One chat request as its provider wants it. `format` is null for OpenAI's own, which is passed on. */
export interface Order {
  /** What follows the route's base path. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string
  readonly format: FormatRequest | null
}

const openAiHeaders = new WeakMap<Route, Readonly<Record<string, string>>>()

/** @throws {ServiceError} `invalid_field` for what the route's format cannot say. */
export function orderFor(asked: AskedBody, route: Route): Order {
  const format =
    (asked.formatFor?.(route) ?? chatFormat(route.format))?.request(asked.body, route, asked.stream) ?? null
  if (format !== null) return { path: format.path, headers: format.headers, body: format.body, format }
  const body = portableBody(asked.body, route)
  return {
    path: '/chat/completions',
    headers: headersFor(route),
    body: openAiBody(body === asked.body ? asked : { ...asked, body, bytes: null }, route),
    format: null,
  }
}

const headersFor = (route: Route): Readonly<Record<string, string>> => {
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
