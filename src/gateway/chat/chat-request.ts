import type { WireBody } from '#outgoing/shares/encode-in-steps.ts'
import { arrayOf, textOf } from '#outgoing/wire.ts'
import type { FormatRequest } from '../call/chat-format.ts'
import { type AttemptFailed, type ErrorAnswer, statusFailure } from '../call/failure.ts'
import type { Route } from '../call/routes.ts'
import { portableBody } from '../providers/portable-body.ts'
import { providerFormats } from '../providers/provider-formats.ts'
import { type ChatInput, openAiBody } from './wire-body.ts'

/**
 * One chat request in the format of its provider. `format` is null for OpenAI's own format, which is passed on
 * unchanged.
 */
export interface ChatRequest {
  /** Path appended to the route's base path. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Headers that differ between requests on the same route. */
  readonly once: Readonly<Record<string, string>> | undefined
  readonly body: WireBody
  readonly format: FormatRequest | null
}

const openAiHeaders = new WeakMap<Route, Headers>()

/**
 * Builds the request for a route.
 * @throws {ServiceError} `invalid_field` for values that the route's format cannot express.
 */
export function chatRequest(input: ChatInput, route: Route): ChatRequest {
  const format =
    (input.formatFor?.(route) ?? providerFormats[route.format].chat)?.request(input.body, route, input.stream) ?? null
  if (format !== null) {
    const once = { ...format.headers, ...keyOf(input) }
    return { path: format.path, headers: noHeaders, once, body: format.body, format }
  }
  const body = bodyFor(input, route)
  return { path: pathOf(route), headers: headersFor(route), once: keyOf(input), body, format: null }
}

const bodyFor = (input: ChatInput, route: Route): WireBody => {
  if (input.encoded !== undefined) return input.encoded(route)
  const body = portableBody(input.body, route)
  return openAiBody(body === input.body ? input : { ...input, body, bytes: null }, route)
}

type Headers = Readonly<Record<string, string>>

/** Other formats create their headers for each request. */
const noHeaders: Headers = {}

const keyOf = ({ idempotencyKey }: ChatInput): Headers | undefined =>
  idempotencyKey === undefined ? undefined : { 'idempotency-key': idempotencyKey }

const pathOf = (route: Route): string =>
  providerFormats[route.format].path?.(route, '/chat/completions') ?? '/chat/completions'

const headersFor = (route: Route): Headers => {
  const known = openAiHeaders.get(route)
  if (known !== undefined) return known
  const made = { 'content-type': 'application/json', ...providerFormats[route.format].headers(route) }
  openAiHeaders.set(route, made)
  return made
}

/** The requested model, followed by the fallbacks. */
export const modelsOf = ({ model, models }: ChatInput['body']): readonly string[] =>
  models === undefined ? [textOf(model)] : [...new Set([textOf(model), ...arrayOf(models).map(textOf)])]

/** Maps an answer with an error status to a failure, by the format of the route. */
export const failureBy = (route: Route | null, answer: ErrorAnswer): AttemptFailed => {
  const format = route === null ? null : providerFormats[route.format].chat
  return (format?.failure ?? statusFailure)(answer, Date.now())
}
