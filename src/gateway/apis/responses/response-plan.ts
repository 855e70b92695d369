import type { ChatBody } from '#gateway/call/chat-calls.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { usesMemory } from '#specs/memory-field.ts'
import { given, missing } from '../chat-parts.ts'
import { inputItems, messagesOf, type ResponseItem } from './input-items.ts'
import { hasAccess } from './remote/remote-tools.ts'
import { allowedTools, type ResponseTools, responseTools, textFormatOf, toolChoiceOf } from './response-tools.ts'
import type { ResponseHistory, ResponseInput } from './stored-responses.ts'
import { sharedFields } from './upstream-request.ts'

/** A parsed request of the Responses API. */
export type ResponseRequest = BodyOf<'responses.create'> & { readonly model: string }

/** A validated request, and what is derived from it. */
export interface ResponsePlan {
  readonly request: ResponseRequest
  /** Items of the request itself. */
  readonly input: readonly ResponseItem[]
  /** All items, with those of earlier responses first. */
  readonly items: readonly ResponseItem[]
  readonly chain: readonly string[]
  readonly tools: ResponseTools
  /** In the form of chat completions. */
  readonly messages: readonly WireObject[]
  /** The chat request without `messages` and the fields about tools. */
  readonly base: ChatBody
  readonly toolChoice: unknown
}

/**
 * Validates a request and converts it to the form of chat completions.
 *
 * @param history the items before the request; null for none.
 * @param read.sent the input of the request with its item references resolved.
 * @param read.prompted items of the request's stored prompt: they come first, and are no part of the conversation.
 * @throws {ServiceError} `bad_request` for what is not supported; `missing_field`, `invalid_field`.
 */
export const planResponse = (
  request: ResponseRequest,
  history: ResponseHistory | null,
  {
    sent = request.input,
    prompted = [],
  }: { readonly sent?: ResponseInput; readonly prompted?: readonly WireObject[] } = {},
): ResponsePlan => {
  const input = inputItems(sent)
  if (input.length === 0 && history === null && prompted.length === 0) throw missing('input')
  const items = [...(history?.items ?? []), ...input]
  const instructions = request.instructions ? [{ role: 'system', content: request.instructions }] : []
  const tools = responseTools(request.tools)
  return {
    request,
    input,
    items,
    chain: history?.chain ?? [],
    tools: allowedTools(tools, request.tool_choice),
    messages: [...instructions, ...messagesOf(inputItems(prompted, 'prompt.messages')), ...messagesOf(items)],
    base: baseOf(request),
    toolChoice: toolChoiceOf(request.tool_choice, tools),
  }
}

/**
 * Refuses combinations of fields, and fields, that OpenAI accepts but this server does not support.
 * @throws {ServiceError} `bad_request`
 */
export const refuseUnoffered = ({ background, store, memory, tools }: BodyOf<'responses.create'>): void => {
  if (background === true && store === false)
    throw unoffered('store', 'A background response must be stored, because it is retrieved later.')
  if (background === true && usesMemory(memory))
    throw unoffered('memory', 'A background response cannot use memory. Send the context in the input.')
  if (background === true && (tools ?? []).some(hasAccess))
    throw unoffered('tools', 'A background response cannot store the credentials of servers. Register the server.')
}

const unoffered = (param: string, message: string): ServiceError => new ServiceError('bad_request', { param, message })

const baseOf = (request: ResponseRequest): ChatBody =>
  given({
    model: request.model,
    models: request.models,
    max_tokens: request.max_output_tokens,
    temperature: request.temperature,
    top_p: request.top_p,
    response_format: textFormatOf(request.text?.format),
    verbosity: request.text?.verbosity,
    reasoning_effort: request.reasoning?.effort,
    ...sharedFields(request),
  })
