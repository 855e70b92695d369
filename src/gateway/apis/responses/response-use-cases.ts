import type { Logger } from 'pino'
import type { Principal } from '#actors/call/call.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import type { KnowledgeService } from '#actors/capability/knowledge-service.ts'
import { type Caller, callerOf } from '#gateway/call/caller.ts'
import type { ChatCalls } from '#gateway/call/chat-calls.ts'
import type { Routes } from '#gateway/call/routes.ts'
import type { ChatMemory } from '#gateway/remembering/chat-memory.ts'
import { objectOf } from '#outgoing/wire.ts'
import { newIdFor } from '#runtime/ids.ts'
import type { RecordStore } from '#storage/ports.ts'
import { ignoredTools, needOf } from '../chat-parts.ts'
import type { Conversations } from '../conversations/conversations.ts'
import { contextUseCases } from './context/context-use-cases.ts'
import { earlierIn } from './context/earlier.ts'
import { itemPage } from './item-page.ts'
import { ResponseMaker, type ToMake } from './response-maker.ts'
import { planResponse, refuseUnoffered } from './response-plan.ts'
import type { ResponseTools } from './response-tools.ts'
import { type SearchWay, toolWay } from './search-way.ts'
import { openFileSearch } from './searches/file-search.ts'
import type { ServerSearch } from './searches/server-search.ts'
import { type WebSearch, webSearch } from './searches/web-search.ts'
import { StoredResponses } from './stored-responses.ts'
import { storedStream } from './stored-stream.ts'

export interface ResponseParts {
  readonly chat: ChatCalls
  readonly routes: Routes
  readonly records: RecordStore
  readonly conversations: Conversations
  /** Null: the server has no engine that searches. */
  readonly search: WebSearch | null
  /** Knowledge bases that `file_search` searches; called when a request comes. */
  readonly knowledge: () => KnowledgeService
  readonly memory: Pick<ChatMemory, 'begin'>
  readonly now: () => number
  readonly log: Logger
  /** ms of silence after which a stream begins without its provider. */
  readonly silenceMs?: number
}

type ResponseUseCases = Pick<
  UseCases,
  | 'responses.create'
  | 'responses.get'
  | 'responses.delete'
  | 'responses.input_items'
  | 'responses.input_tokens'
  | 'responses.compact'
>

/** The use-cases of OpenAI's Responses form. */
export const responseUseCases = (parts: ResponseParts): ResponseUseCases => {
  const stored = new StoredResponses(parts.records, parts.now)
  const maker = new ResponseMaker({ ...parts, stored })
  const { conversations } = parts
  const earlier = earlierIn(stored, conversations)
  return {
    ...contextUseCases({ ...parts, stored, earlier }),
    'responses.create': async (call) => {
      const { body: request, signal } = call
      refuseUnoffered(request)
      const caller = callerOf(call)
      const { history, conversation } = await earlier(caller, request)
      const input = await stored.referenced(caller, request.input)
      const planned = planResponse(request, history, input)
      const target = { project: caller.project, model: request.model, need: needOf(planned.messages) }
      const { way, tools, ignored } = await toolWay({ ...parts, hasEngine: parts.search !== null }, target, planned)
      const searches = await searchesOf(parts, caller, { way, tools })
      const { messages } = planned
      const remembered = await parts.memory.begin({ call, memory: request.memory, messages, source: 'response' })
      const plan = { ...planned, tools, messages: (remembered?.messages ?? messages).map(objectOf) }
      const task = {
        ...{ id: newIdFor(call, 'resp'), plan, caller, way, searches, signal, remembered },
        ...{ store: request.store !== false, headers: [...ignoredTools(ignored), ...(remembered?.headers ?? [])] },
        conversation: conversation === null ? null : addingTo(conversations, caller, conversation),
      }
      return request.stream === true ? { bytes: await maker.streamed(task) } : maker.whole(task)
    },
    'responses.get': async ({ principal, scope, params, query }) => {
      const { document } = await stored.find(scope, agentOf(principal), params.response_id)
      return query.stream === true ? { bytes: storedStream(document, query.starting_after) } : { json: document }
    },
    'responses.delete': async ({ principal, scope, params: { response_id: id } }) => {
      await stored.remove(scope, agentOf(principal), id)
      return { id, object: 'response', deleted: true }
    },
    'responses.input_items': async ({ principal, scope, params, query }) => {
      const { input } = await stored.find(scope, agentOf(principal), params.response_id)
      return itemPage(input, query)
    },
  }
}

/** Searches that the server runs for a request. @throws {ServiceError} `not_found` for a base that the caller may not search. */
const searchesOf = async (
  { search, knowledge }: Pick<ResponseParts, 'search' | 'knowledge'>,
  caller: Caller,
  { way, tools }: { readonly way: SearchWay | null; readonly tools: ResponseTools },
): Promise<readonly ServerSearch[]> => {
  const { project } = caller
  const limit = tools.search?.limit ?? 0
  return [
    ...(way === 'engine' && search !== null ? [webSearch(search, { project, limit })] : []),
    ...(tools.files === null ? [] : [await openFileSearch(knowledge(), caller, tools.files)]),
  ]
}

/** Adds what was said to a conversation of the caller's. */
const addingTo = (conversations: Conversations, { scope, agentId }: Caller, id: string): ToMake['conversation'] => ({
  id,
  add: (more) => conversations.change({ scope, agentId }, id, { items: (items) => [...items, ...more] }),
})

/** The agent whose responses a credential reaches; null for all. */
const agentOf = (principal: Principal): string | null => (principal.kind === 'agent_key' ? principal.agentId : null)
