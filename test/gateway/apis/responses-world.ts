import OpenAI from 'openai'
import pino from 'pino'
import type { KnowledgeService } from '#actors/capability/knowledge-service.ts'
import { StoredPrompts } from '#actors/prompts/stored-prompts.ts'
import { conversationUseCases } from '#gateway/apis/conversations/conversation-use-cases.ts'
import { Conversations } from '#gateway/apis/conversations/conversations.ts'
import type { ResponseHost } from '#gateway/apis/responses/background/background-responses.ts'
import { responseForm } from '#gateway/apis/responses/response-use-cases.ts'
import type { WebSearch } from '#gateway/apis/responses/searches/web-search.ts'
import type { ChatCalls } from '#gateway/call/chat-calls.ts'
import type { Route } from '#gateway/call/routes.ts'
import type { KeepAlive } from '#gateway/call/streaming/pushed-body.ts'
import { ChatMemory } from '#gateway/remembering/chat-memory.ts'
import { newId } from '#runtime/ids.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { conversationItems, conversations as conversationOperations } from '#specs/resources/gateway/conversations.ts'
import { responses } from '#specs/resources/gateway/responses.ts'
import type { RecordStore } from '#storage/ports.ts'
import { openServices } from '#test/support/open-services.ts'
import { ScriptedMemory } from '#test/support/scripted-memory.ts'
import { declaredAnswer, formServer } from './form-server.ts'
import { type Script, ScriptedChat } from './scripted-chat.ts'
import { sdkFetch } from './sdk-fetch.ts'

/** Options of a test installation of the Responses API. */
export interface WorldOptions {
  readonly search?: WebSearch
  readonly knowledge?: KnowledgeService
  readonly records?: (records: RecordStore) => RecordStore
  /** A model in place of the scripted one. */
  readonly model?: ChatCalls
  readonly route?: Route
  readonly keepAlive?: KeepAlive
}

/** The Responses API over a scripted model, through the official SDK. */
export const responsesWorld = async (
  scripts: readonly Script[],
  { search, knowledge = noKnowledge, records: wrap, model, route, keepAlive }: WorldOptions = {},
) => {
  const { records } = await openServices()
  const chat = new ScriptedChat(...scripts)
  const memory = new ScriptedMemory()
  const clock = { now: Date.UTC(2026, 10, 21) }
  const store = wrap?.(records) ?? records
  const conversations = new Conversations(store, () => clock.now)
  const form = responseForm({
    conversations,
    chat: model ?? chat,
    routes: { resolve: () => (route === undefined ? [] : [route]) },
    records: store,
    host: noActors,
    search: search ?? null,
    remote: () => {
      throw new Error('there are no servers')
    },
    prompts: () => new StoredPrompts(store, () => clock.now),
    knowledge: () => knowledge,
    memory: new ChatMemory({ service: () => memory, now: () => clock.now }),
    now: () => clock.now,
    log: pino({ level: 'silent' }),
    ...(keepAlive !== undefined && { keepAlive }),
  })
  const send = formServer(
    { ...responses, ...conversationOperations, ...conversationItems },
    {
      ...conversationUseCases(conversations),
      ...form.useCases,
    },
  )
  const openai = new OpenAI({
    apiKey: 'csk_x',
    baseURL: 'http://agents.example/v1',
    fetch: sdkFetch(send),
    maxRetries: 0,
  })
  return { chat, memory, send, openai, clock, make: form.make }
}

const noKnowledge: KnowledgeService = { open: () => Promise.reject(new Error('no knowledge')) }

/** Checks a response document against its declared schema: an error message, or null. */
export const checkedResponse = declaredAnswer(responses['responses.create'])

/** An actor host without background responses. */
const noActors: ResponseHost = {
  create: () => Promise.reject(new Error('no actors here')),
  find: () => Promise.reject(new ServiceError('not_found')),
  deliverTo: () => Promise.reject(new Error('no actors here')),
  newActorId: newId,
  feed: {
    follow: () => {
      throw new Error('no actors here')
    },
  },
}
