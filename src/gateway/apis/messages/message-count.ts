import { countOrNull } from '#gateway/call/accounting/counted.ts'
import { tokensOfChars } from '#gateway/call/accounting/usage.ts'
import type { Caller } from '#gateway/call/caller.ts'
import type { Route } from '#gateway/call/routes.ts'
import type { JsonCallKind, JsonCalls } from '#gateway/documents/json-calls.ts'
import { messagesOf } from '#gateway/providers/provider-formats.ts'
import { arrayOf, isObject, objectOf, type WireObject } from '#outgoing/wire.ts'
import { type ErrorCode, ServiceError } from '#specs/errors/errors.ts'

/** Number of input tokens of a message before it is sent, and how it was determined. */
export interface MessageCount {
  readonly inputTokens: number
  /** `provider`: exact; `estimate`: from the length. */
  readonly by: 'provider' | 'estimate'
}

export interface CountParts {
  readonly documents: Pick<JsonCalls, 'create'>
  readonly caller: Caller
  readonly signal: AbortSignal
}

/** The token counting endpoint of Anthropic, or of a cloud with its models; both are free of charge. */
const countKind: JsonCallKind = {
  operation: 'messages.count_tokens',
  need: 'chat',
  target: (route) => messagesOf(route)?.count(route) ?? null,
  max: () => ({}),
  usage: () => ({}),
  costUsd: () => '0',
}

/**
 * Provider errors after which the estimate is used: servers that are merely compatible have no such endpoint, and clouds
 * do not count for every model.
 */
const uncounted: ReadonlySet<ErrorCode> = new Set([
  ...(['model_not_found', 'provider_error', 'provider_refused', 'provider_unavailable', 'provider_timeout'] as const),
])

/**
 * Lets the provider count when the first route has the model by Anthropic's API, else estimates by length.
 * @throws {ServiceError}
 */
export const countMessage = async (
  { documents, caller, signal }: CountParts,
  body: WireObject,
  first: Route | undefined,
): Promise<MessageCount> => {
  if (first === undefined || messagesOf(first) === null) return estimated(body)
  try {
    const { answer } = await documents.create(countKind, { caller, body, signal })
    const inputTokens = countOrNull(answer.input_tokens)
    return inputTokens === null ? estimated(body) : { inputTokens, by: 'provider' }
  } catch (error) {
    if (error instanceof ServiceError && uncounted.has(error.code)) return estimated(body)
    throw error
  }
}

const estimated = (body: WireObject): MessageCount => ({ inputTokens: estimatedTokens(body), by: 'estimate' })

/** Anthropic counts an image as at most about this many tokens; a page of a document is similar. */
const tokensAFile = 1_600
const tokensAMessage = 4

/** Estimates the tokens of a Messages request from its length: accurate within some 20 % for English. */
const estimatedTokens = ({ messages, system, tools }: WireObject): number => {
  const size = { chars: 0, files: 0 }
  for (const value of [system, messages, tools]) add(value, size)
  return tokensOfChars(size.chars) + size.files * tokensAFile + arrayOf(messages).length * tokensAMessage
}

const add = (value: unknown, size: { chars: number; files: number }): void => {
  if (typeof value === 'string') size.chars += value.length
  else if (Array.isArray(value)) for (const each of value) add(each, size)
  else if (isObject(value)) {
    const isFile = isObject(value.source) && objectOf(value.source).type !== 'text'
    if (isFile) size.files++
    for (const [name, each] of Object.entries(value)) if (!isFile || name !== 'source') add(each, size)
  }
}
