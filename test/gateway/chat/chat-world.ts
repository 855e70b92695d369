import { questionJudge } from '#gateway/caching/question-judge.ts'
import { ResponseCache } from '#gateway/caching/response-cache.ts'
import type { GatewayCall } from '#gateway/call/accounting/call-ledger.ts'
import type { Admission, AdmissionRequest } from '#gateway/call/admission.ts'
import type { CallPolicy } from '#gateway/call/call-policy.ts'
import type { Caller } from '#gateway/call/caller.ts'
import type { ChatSummary } from '#gateway/call/chat-calls.ts'
import type { Redaction } from '#gateway/call/redaction.ts'
import type { CachePolicy } from '#gateway/call/reuse.ts'
import type { Route } from '#gateway/call/routes.ts'
import type { ChatRunRequest, WholeAnswer } from '#gateway/chat/chat-run-request.ts'
import { openChats } from '#gateway/chat/open-chats.ts'
import type { Guardrails } from '#gateway/guardrails/stored-guardrails.ts'
import type { WireObject } from '#outgoing/wire.ts'
import type { Embedder } from '#retrieval/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { RoutingRule } from '#specs/resources/gateway/routing-policy.ts'
import type { AnswerStore } from '#storage/answer-store.ts'
import { LocalAnswers } from '#storage/local-answers.ts'
import { projectScope } from '#storage/scope.ts'
import { noGuard } from '#test/gateway/no-guard.ts'
import { type Answer, openUpstream } from '../call/scripted-upstream.ts'

/** The result of one request. */
export interface Came {
  readonly frames: string
  readonly chunks: readonly WireObject[]
  readonly begun: boolean
  readonly whole: WholeAnswer | null
  readonly summary: ChatSummary | null
  readonly error: ServiceError | null
}

/** Options of a request. */
export interface ChatOptions {
  readonly body?: WireObject
  /** The body as text of the caller; without it the body is serialized. */
  readonly text?: string
  readonly stream?: boolean
  readonly caller?: Caller
  readonly reuse?: ChatRunRequest['reuse']
  /** Whether frames are received as bytes; default true. */
  readonly frames?: boolean
}

/** A request in progress. */
export type Running = Promise<Came> & {
  /** Settles when the answer begins. */
  readonly begun: Promise<void>
  /** Cancels the request as its caller. */
  cancel(): void
}

export const caller: Caller = {
  ...{ principal: { kind: 'secret_key', project: 'prj_1', keyId: 'key_1' }, scope: projectScope('prj_1') },
  ...{
    requestId: 'req_12345678',
    project: 'prj_1',
    tenant: null,
    externalUserId: null,
    keyId: 'key_1',
    agentId: null,
    models: null,
  },
}

export const hello: WireObject = { model: 'model-1', messages: [{ role: 'user', content: 'Hello' }] }

/** Chat over two real local servers; `routes` maps models to them. */
export const openChatWorld = async (
  options: {
    readonly policy?: Partial<CallPolicy>
    readonly keepAliveMs?: number
    readonly caching?: true
    readonly embedder?: Embedder
    readonly guardrails?: Guardrails
  } = {},
) => {
  const first = await openUpstream()
  const second = await openUpstream()
  const routeTo = (upstream: { readonly url: string }, other: Partial<Route> = {}): Route =>
    Object.freeze({
      ...{ model: 'model-1', provider: 'groq', format: 'openai', baseUrl: `${upstream.url}/v1`, apiKey: 'key-1' },
      ...{ source: 'managed', connectionId: null },
      ...other,
    } as const satisfies Route)
  const routes = new Map<string, readonly Route[]>([['model-1', [routeTo(first)]]])
  const rules: RoutingRule[] = []
  const recorded: GatewayCall[] = []
  const admissions: AdmissionRequest[] = []
  const settled: (string | null)[] = []
  const world: { admission: Admission; redaction: Redaction; caching: CachePolicy | null; now: number } = {
    caching: null,
    admission: {
      admit: (request) => {
        admissions.push(request)
        return { headers: [['x-ratelimit-remaining-requests', '7']], settle: (usd) => void settled.push(usd) }
      },
    },
    redaction: { policyOf: () => null, forLog: (body) => body },
    now: 1_700_000_000_000,
  }
  const answers = new LocalAnswers({ steady: () => world.now })
  const written: string[] = []
  const store: AnswerStore = {
    read: (place, keys) => answers.read(place, keys),
    forget: (project) => answers.forget(project),
    put: async (place, key, value) => {
      written.push(value.text)
      await answers.put(place, key, value)
    },
  }
  const cache = new ResponseCache({
    policies: {
      of: async (project) => ({ redaction: await world.redaction.policyOf(project), cache: world.caching }),
    },
    ...{ store, embedder: options.embedder ?? null, now: () => world.now },
    isSame: questionJudge((call) => chats.complete(call)),
  })
  const { chats, keepAlive } = openChats({
    ...(options.caching === true && { cache }),
    guardrails: options.guardrails,
    routes: {
      resolve: (_, model) => {
        const found = routes.get(model)
        if (found === undefined) throw new ServiceError('model_not_found', { param: 'model' })
        return found
      },
      rules: () => rules,
    },
    admission: {
      admit: (request) => world.admission.admit(request),
      get admitKey() {
        return world.admission.admitKey
      },
    },
    redaction: { policyOf: (project) => world.redaction.policyOf(project), forLog: (body) => body },
    ledger: { record: (call) => void recorded.push(call), flush: () => Promise.resolve() },
    guard: noGuard,
    now: () => world.now,
    policy: { backoffMs: 1, maxBackoffMs: 2, ...options.policy },
    ...(options.keepAliveMs !== undefined && { keepAliveMs: options.keepAliveMs }),
  })
  const requestOf = ({ body = hello, text, stream = false, reuse, ...other }: ChatOptions): ChatRunRequest => ({
    ...(reuse !== undefined && { reuse }),
    ...{ caller: other.caller ?? caller, operation: 'chat_completions.create', need: 'chat', stream },
    body: text === undefined ? body : JSON.parse(text),
    bytes: text === undefined ? null : Buffer.from(text),
  })
  const request = (request: ChatOptions = {}): Running => {
    const { promise, resolve } = Promise.withResolvers<Came>()
    const begun = Promise.withResolvers<void>()
    const chunks: WireObject[] = []
    const came = { frames: '', chunks, begun: false, whole: null, summary: null, error: null }
    const run = chats.run(requestOf(request), {
      takesFrames: request.frames ?? true,
      begin: () => {
        came.begun = true
        begun.resolve()
      },
      frames: (bytes) => {
        came.frames += bytes.toString('utf8')
        return true
      },
      chunk: (chunk) => {
        chunks.push(chunk)
        return true
      },
      whole: (whole) => resolve({ ...came, whole }),
      end: (summary) => resolve({ ...came, summary }),
      fail: (error) => resolve({ ...came, error: asServiceError(error) }),
    })
    return Object.assign(promise, { begun: begun.promise, cancel: () => run.cancel() })
  }
  const close = async () => {
    await chats.close()
    await first.close()
    await second.close()
  }
  return {
    /** All texts that were stored. */
    stored: () => written.join('\n'),
    forget: () => store.forget('prj_1'),
    ...{
      first,
      second,
      routeTo,
      routes,
      rules,
      recorded,
      admissions,
      settled,
      world,
      chats,
      keepAlive,
      request,
      requestOf,
      close,
    },
  }
}

export type ChatWorld = Awaited<ReturnType<typeof openChatWorld>>

const asServiceError = (error: Error): ServiceError => {
  if (error instanceof ServiceError) return error
  throw error
}

/** Frames of an OpenAI stream. */
export const framesOf = (...chunks: readonly (WireObject | string)[]): string =>
  chunks.map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`).join('')

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'model-1-2026' }

export const delta = (fields: WireObject, finish_reason: string | null = null, index = 0): WireObject => ({
  ...head,
  choices: [{ index, delta: fields, finish_reason }],
})

export const usageChunk: WireObject = {
  ...head,
  choices: [],
  usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
}

/** A complete valid stream. */
export const goodStream = framesOf(
  delta({ role: 'assistant', content: 'Hello ' }),
  delta({ content: 'wörld 🌍 "error": {"usage":{}}' }),
  delta({}, 'stop'),
  usageChunk,
  '[DONE]',
)

/** A complete valid answer. */
export const goodAnswer = {
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'model-1-2026' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
}

/** Answers a document with status 200. */
export const json =
  (document: object | string): Answer =>
  (response) => {
    const text = typeof document === 'string' ? document : JSON.stringify(document)
    response.writeHead(200, { 'content-type': 'application/json' }).end(text)
  }
