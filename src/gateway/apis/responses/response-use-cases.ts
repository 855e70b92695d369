import type { Principal } from '#actors/call/call.ts'
import { nullWhenNotFound } from '#actors/call/not-found.ts'
import type { UseCases, UseCasesOf } from '#actors/call/use-cases.ts'
import type { KnowledgeService } from '#actors/capability/knowledge-service.ts'
import type { PromptService } from '#actors/capability/prompt-service.ts'
import type { RemoteTools } from '#actors/capability/remote-tools.ts'
import type { Services } from '#actors/capability/services.ts'
import { type Caller, callerOf } from '#gateway/call/caller.ts'
import type { ChatCalls } from '#gateway/call/chat-calls.ts'
import type { Routes } from '#gateway/call/routes.ts'
import type { KeepAlive } from '#gateway/call/streaming/pushed-body.ts'
import type { ChatMemory } from '#gateway/remembering/chat-memory.ts'
import { objectOf } from '#outgoing/wire.ts'
import { newIdFor } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { settledScope } from '#storage/index.ts'
import { ignoredTools, needOf } from '../chat-parts.ts'
import type { Conversations } from '../conversations/conversations.ts'
import { BackgroundResponses, type ResponseHost } from './background/background-responses.ts'
import type { ResponseEffectParts } from './background/response-effects.ts'
import { documentOf, requestOf, storedDocument } from './background/schema.ts'
import { shownBy } from './background/shown-events.ts'
import { callerFrom } from './background/stored-caller.ts'
import { contextUseCases } from './context/context-use-cases.ts'
import { priorItemsIn } from './context/prior-items.ts'
import { itemPage } from './item-page.ts'
import { type PromptedRequest, promptedRequest } from './prompted-request.ts'
import { openRemoteServers } from './remote/remote-servers.ts'
import type { ResponseDocument } from './response-document.ts'
import { ResponseMaker, type ToMake } from './response-maker.ts'
import { planResponse, refuseUnoffered } from './response-plan.ts'
import type { ResponseTools } from './response-tools.ts'
import { openFileSearch } from './searches/file-search.ts'
import type { ServerSearch } from './searches/server-search.ts'
import { type WebSearch, webSearch } from './searches/web-search.ts'
import { type ResponseInput, StoredResponses } from './stored-responses.ts'
import { storedStream } from './stored-stream.ts'
import { planTools, type SearchRunner } from './tool-plan.ts'

export interface ResponseParts extends Pick<Services, 'log' | 'now' | 'records'> {
  readonly chat: ChatCalls
  readonly routes: Routes
  readonly conversations: Conversations
  /** null when no search engine is configured. */
  readonly search: WebSearch | null
  /** Knowledge bases that `file_search` searches; called once per request. */
  readonly knowledge: () => KnowledgeService
  /** Remote servers that requests name; called once per request. */
  readonly remote: () => RemoteTools
  /** Stored prompts that requests name; called once per request. */
  readonly prompts: () => PromptService
  readonly memory: Pick<ChatMemory, 'begin'>
  readonly host: ResponseHost
  /** Keep-alive of streams; it also sets how long a silent provider delays the head of the answer. */
  readonly keepAlive?: KeepAlive
}

/** The Responses API: its use-cases, and the function by which actors make background responses. */
export interface ResponseForm {
  readonly useCases: UseCasesOf<'responses'>
  readonly make: ResponseEffectParts['make']
}

/** Opens OpenAI's Responses API. */
export const responseForm = (parts: ResponseParts): ResponseForm => {
  const stored = new StoredResponses(parts.records, parts.now)
  const maker = new ResponseMaker({ ...parts, stored })
  const prepare = preparing(parts, stored)
  const background = new BackgroundResponses(parts.host, parts.now)
  return {
    useCases: {
      ...contextUseCases({ ...parts, stored, earlier: priorItemsIn(stored, parts.conversations) }),
      'responses.create': creating({ ...parts, maker, prepare, background }),
      ...reading({ stored, background }),
    },
    make: async ({ id, project, request, caller: of, document }, { signal, show }) => {
      const caller = callerFrom(project, of)
      // stored by an attempt whose commit a crash prevented: later responses continue it
      const before = await stored.find(caller.scope, caller.agentId, id).catch(nullWhenNotFound)
      if (before !== null) return storedDocument(before.document)
      const prepared = await prepare(caller, await promptedRequest(parts.prompts, project, requestOf(request)))
      const createdAt = documentOf(document).created_at
      return storedDocument(await maker.shown({ ...prepared, id, signal, createdAt }, shownBy(show)))
    },
  }
}

/** A response ready to be made; only the id and the signal of its call are missing. */
type Prepared = Omit<ToMake, 'id' | 'signal'> & { readonly sent: ResponseInput }
type Prepare = (caller: Caller, request: PromptedRequest, call?: CreateCall) => Promise<Prepared>
type CreateCall = Parameters<UseCases['responses.create']>[0]

/** Validates a request and resolves everything that it names. @throws {ServiceError} */
const preparing = (parts: ResponseParts, stored: StoredResponses): Prepare => {
  const { conversations } = parts
  const earlier = priorItemsIn(stored, conversations)
  return async (caller, { request, prompted }, call) => {
    const { history, conversation } = await earlier(caller, request)
    const sent = await stored.referenced(caller, request.input)
    const planned = planResponse(request, history, { sent, prompted })
    const target = { project: caller.project, model: request.model, need: needOf(planned.messages) }
    const { runner, tools, ignored } = await planTools({ ...parts, hasEngine: parts.search !== null }, target, planned)
    const searches = await searchesOf(parts, caller, { runner, tools })
    const remote = await openRemoteServers(parts.remote, { caller, items: planned.items }, tools.remote)
    const { messages } = planned
    const remembered =
      call === undefined
        ? null
        : await parts.memory.begin({ call, memory: request.memory, messages, source: 'response' })
    const plan = { ...planned, tools, messages: (remembered?.messages ?? messages).map(objectOf) }
    return {
      ...{ plan, caller, runner, searches, remote, remembered, sent },
      ...{ store: request.store !== false, headers: [...ignoredTools(ignored), ...(remembered?.headers ?? [])] },
      conversation: conversation === null ? null : addingTo(conversations, caller, conversation),
    }
  }
}

interface Creating extends Pick<ResponseParts, 'host' | 'prompts'> {
  readonly maker: ResponseMaker
  readonly prepare: Prepare
  readonly background: BackgroundResponses
}

const creating =
  ({ maker, prepare, background, host, prompts }: Creating): UseCases['responses.create'] =>
  async (call) => {
    const { body, signal } = call
    refuseUnoffered(body)
    const caller = callerOf(call)
    const made = await promptedRequest(prompts, caller.project, body)
    const { request } = made
    if (request.background !== true) {
      const task = { ...(await prepare(caller, made, call)), id: newIdFor(call, 'resp'), signal }
      return request.stream === true ? { bytes: await maker.streamed(task) } : maker.whole(task)
    }
    const id = newIdFor(call, 'resp', host.newActorId)
    const task = { ...(await prepare(caller, made)), id, signal }
    const document = maker.queued(task)
    const { sent, plan } = task
    const cause = call.idempotency?.cause ?? id
    await background.begin({ id, caller, request, sent, input: plan.input, document, cause })
    const found = request.stream === true ? await background.find(caller.scope, caller.agentId, id) : null
    if (found === null) return { json: document, headers: task.headers }
    return { bytes: background.stream({ ...found, document }, { scope: caller.scope, after: undefined }) }
  }

type ReadingUseCases = Pick<
  UseCases,
  'responses.get' | 'responses.delete' | 'responses.cancel' | 'responses.input_items'
>

interface Reading {
  readonly stored: StoredResponses
  readonly background: BackgroundResponses
}

/** A response that cannot continue until an operator decides: pollers end, as for every incomplete response. */
const stuckDocument = (document: ResponseDocument): ResponseDocument => ({
  ...document,
  status: 'incomplete',
  incomplete_details: { reason: 'stuck' },
})

const reading = ({ stored, background }: Reading): ReadingUseCases => ({
  'responses.get': async ({ principal, scope, params: { response_id: id }, query }) => {
    const after = query.starting_after
    const found = await background.find(scope, agentOf(principal), id)
    const { document } = found ?? (await stored.find(scope, agentOf(principal), id))
    if (query.stream !== true)
      return { json: found?.resident.parked === undefined ? document : stuckDocument(document) }
    return { bytes: found === null ? storedStream(document, after) : background.stream(found, { scope, after }) }
  },
  'responses.cancel': async ({ principal, scope, params: { response_id: id } }) => {
    const found = await background.find(scope, agentOf(principal), id)
    if (found === null) {
      await stored.find(scope, agentOf(principal), id)
      const message = 'Only a response that was created with background: true can be cancelled.'
      throw new ServiceError('bad_request', { param: 'response_id', message })
    }
    await background.cancel(found)
    return (await background.find(scope, null, id))?.document ?? found.document
  },
  'responses.delete': async ({ principal, scope, params: { response_id: id } }) => {
    const found = await background.find(scope, agentOf(principal), id)
    if (found !== null) await background.remove(found)
    await stored.remove(scope, agentOf(principal), id).catch((error: unknown) => {
      // a response that did not end successfully was never stored
      if (found === null) throw error
    })
    return { id, object: 'response', deleted: true }
  },
  'responses.input_items': async ({ principal, scope, params: { response_id: id }, query }) => {
    const found = await background.find(scope, agentOf(principal), id)
    return itemPage((found ?? (await stored.find(scope, agentOf(principal), id))).input, query)
  },
})

/**
 * Opens the searches that this server runs for a request.
 * @throws {ServiceError} `not_found` for a knowledge base that the caller may not search.
 */
const searchesOf = async (
  { search, knowledge }: Pick<ResponseParts, 'search' | 'knowledge'>,
  caller: Caller,
  { runner, tools }: { readonly runner: SearchRunner | null; readonly tools: ResponseTools },
): Promise<readonly ServerSearch[]> => {
  const { project } = caller
  const limit = tools.search?.limit ?? 0
  return [
    ...(runner === 'engine' && search !== null ? [webSearch(search, { project, limit })] : []),
    ...(tools.files === null ? [] : [await openFileSearch(knowledge(), caller, tools.files)]),
  ]
}

/** Appends items to a conversation within the caller's reach, also when its tenant was suspended meanwhile: they are paid for. */
const addingTo = (conversations: Conversations, { scope, agentId }: Caller, id: string): ToMake['conversation'] => ({
  id,
  add: (more) =>
    conversations.change({ scope: settledScope(scope), agentId }, id, { items: (items) => [...items, ...more] }),
})

/** The agent to whose responses a credential is restricted; null for all. */
const agentOf = (principal: Principal): string | null => (principal.kind === 'agent_key' ? principal.agentId : null)
