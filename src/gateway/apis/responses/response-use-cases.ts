import type { Logger } from 'pino'
import type { Principal } from '#actors/call/call.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import { callerOf } from '#gateway/call/caller.ts'
import type { ChatCalls } from '#gateway/call/chat-calls.ts'
import type { Routes } from '#gateway/call/routes.ts'
import { newIdFor } from '#runtime/ids.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { RecordStore } from '#storage/ports.ts'
import { ignoredTools, needOf } from '../chat-parts.ts'
import type { ResponseItem } from './input-items.ts'
import { ResponseMaker } from './response-maker.ts'
import { planResponse, refuseUnoffered } from './response-plan.ts'
import { toolWay } from './search-way.ts'
import { StoredResponses } from './stored-responses.ts'
import type { WebSearch } from './web-search.ts'

export interface ResponseParts {
  readonly chat: ChatCalls
  readonly routes: Routes
  readonly records: RecordStore
  /** Null: the server has no engine that searches. */
  readonly search: WebSearch | null
  readonly now: () => number
  readonly log: Logger
  /** ms of silence after which a stream begins without its provider. */
  readonly silenceMs?: number
}

type ResponseUseCases = Pick<
  UseCases,
  'responses.create' | 'responses.get' | 'responses.delete' | 'responses.input_items'
>

/** The use-cases of OpenAI's Responses form. */
export const responseUseCases = (parts: ResponseParts): ResponseUseCases => {
  const stored = new StoredResponses(parts.records, parts.now)
  const maker = new ResponseMaker({ ...parts, stored })
  return {
    'responses.create': async (call) => {
      const { body: request, signal } = call
      refuseUnoffered(request)
      const caller = callerOf(call)
      const before = request.previous_response_id
      const input = await stored.referenced(caller, request.input)
      const planned = planResponse(request, before ? await stored.history(caller, before) : null, input)
      const target = { project: caller.project, model: request.model, need: needOf(planned.messages) }
      const { way, tools, ignored } = await toolWay({ ...parts, hasEngine: parts.search !== null }, target, planned)
      const plan = { ...planned, tools }
      const id = newIdFor(call, 'resp')
      const task = { id, plan, caller, way, store: request.store !== false, signal, headers: ignoredTools(ignored) }
      return request.stream === true ? { bytes: await maker.streamed(task) } : maker.whole(task)
    },
    'responses.get': async ({ principal, scope, params, query }) => {
      if (query.stream === true) throw new ServiceError('bad_request', { param: 'stream', message: noLaterStream })
      const { document } = await stored.find(scope, agentOf(principal), params.response_id)
      return document
    },
    'responses.delete': async ({ principal, scope, params: { response_id: id } }) => {
      await stored.remove(scope, agentOf(principal), id)
      return { id, object: 'response', deleted: true }
    },
    'responses.input_items': async ({ principal, scope, params, query }) => {
      const { input } = await stored.find(scope, agentOf(principal), params.response_id)
      return pageOf(input, query)
    },
  }
}

const noLaterStream = 'A response is streamed while it is made; read it without stream.'

/** The agent whose responses a credential reaches; null for all. */
const agentOf = (principal: Principal): string | null => (principal.kind === 'agent_key' ? principal.agentId : null)

interface PageQuery {
  readonly limit?: number
  readonly order?: 'asc' | 'desc'
  readonly after?: string
}

/** OpenAI's list of a response's input: newest first unless requested otherwise, 20 a page. */
const pageOf = (items: readonly ResponseItem[], { limit = 20, order = 'desc', after }: PageQuery) => {
  const ordered = order === 'asc' ? items : items.toReversed()
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1
  const data = ordered.slice(from, from + limit)
  return {
    object: 'list' as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + limit < ordered.length,
  }
}
