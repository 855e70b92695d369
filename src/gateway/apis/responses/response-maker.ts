import type { BytesResult } from '#actors/call/use-cases.ts'
import type { Services } from '#actors/capability/services.ts'
import { costHeader } from '#gateway/call/accounting/shown-cost.ts'
import type { Caller } from '#gateway/call/caller.ts'
import type { ChatCall, ChatCalls, ChatControl, ChatListener } from '#gateway/call/chat-calls.ts'
import {
  type AnswerHeaders,
  eventStream,
  type KeepAlive,
  PushedBody,
  streamHeaders,
} from '#gateway/call/streaming/pushed-body.ts'
import type { RememberedChat } from '#gateway/remembering/chat-memory.ts'
import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { needOf } from '../chat-parts.ts'
import { shownError, whenAborted } from '../streamed-chat.ts'
import { EventFrames } from './event-frames.ts'
import type { ResponseItem } from './input-items.ts'
import type { RemoteServers } from './remote/remote-servers.ts'
import { type ResponseDocument, type ResponseHead, responseDocument } from './response-document.ts'
import { type Emit, ResponseOutput } from './response-output.ts'
import type { ResponsePlan } from './response-plan.ts'
import { type CallModel, type RunEnd, runResponse } from './response-run.ts'
import type { ServerSearch } from './searches/server-search.ts'
import type { StoredResponses } from './stored-responses.ts'
import { type SearchRunner, upstreamFormatFor } from './tool-plan.ts'

/** Dependencies of {ResponseMaker}. */
export interface MakerParts extends Pick<Services, 'log' | 'now'> {
  readonly chat: ChatCalls
  readonly stored: StoredResponses
  /** Keep-alive of streams; it also sets how long a silent provider delays the head of the answer. */
  readonly keepAlive?: KeepAlive
}

/** One response to be made. */
export interface ToMake {
  readonly id: string
  readonly plan: ResponsePlan
  readonly caller: Caller
  readonly store: boolean
  /** Appends the items of the response to its conversation; null for none. */
  readonly conversation: {
    readonly id: string
    readonly add: (items: readonly ResponseItem[]) => Promise<unknown>
  } | null
  /** Who runs the tools that the caller does not run; null when there are none. */
  readonly runner: SearchRunner | null
  /** Searches that this server runs for the model. */
  readonly searches: readonly ServerSearch[]
  /** Tools of remote servers. */
  readonly remote: RemoteServers
  /** Headers in addition to those of the model call. */
  readonly headers: AnswerHeaders
  /** Memory that is updated from the answer; null for none. */
  readonly remembered: RememberedChat | null
  readonly signal: AbortSignal
  /** Creation time of a background response, in s since the epoch; absent: the current time. */
  readonly createdAt?: number
}

/** The headers of the last model call, with the cost of all calls. */
const headersOf = ({ summary, costUsd }: RunEnd): AnswerHeaders => [
  ...summary.headers.filter(([name]) => name !== 'x-cost-usd'),
  ...costHeader(costUsd),
]

/** Makes responses by chat calls to any model. */
export class ResponseMaker {
  readonly #parts: MakerParts

  constructor(parts: MakerParts) {
    this.#parts = parts
  }

  /** Makes a response that is not streamed. @throws {ServiceError} */
  async whole(task: ToMake): Promise<{ readonly json: ResponseDocument; readonly headers: AnswerHeaders }> {
    const head = this.#head(task)
    const output = newOutput(task, () => {})
    const callModel: CallModel = async (body, onChoice) => {
      const outcome = await this.#parts.chat.complete(chatCallOf(task, body))
      const choice = objectOf(arrayOf(outcome.completion.choices)[0])
      task.remembered?.add(textOf(objectOf(choice.message).content))
      onChoice(choice)
      return outcome
    }
    const end = await this.#run(task, output, callModel)
    const document = await this.#ended(task, { head, output, end })
    return { json: withMemory(document, task), headers: [...headersOf(end), ...task.headers] }
  }

  /** Makes a response whose events `emit` gets meanwhile. @throws {ServiceError} */
  async shown(task: ToMake, emit: Emit): Promise<ResponseDocument> {
    const output = newOutput(task, emit)
    const call = streamingCall(this.#parts.chat, task, { begin: () => {}, isReady: () => true, control: () => {} })
    const end = await this.#run(task, output, call)
    return this.#ended(task, { head: this.#head(task), output, end })
  }

  /**
   * Makes a streamed response. Resolves when the stream has begun.
   * @throws {ServiceError} when the response fails before that.
   */
  streamed(task: ToMake): Promise<BytesResult> {
    const head = this.#head(task)
    return new Promise((resolve, reject) => {
      const open = (model: string, headers: AnswerHeaders): void => {
        const response = responseDocument(head, { status: 'in_progress', model, output: [] })
        stream.emit('response.created', { response })
        stream.emit('response.in_progress', { response })
        resolve({
          contentType: eventStream,
          bytes: stream.body,
          headers: [...streamHeaders, ...headers, ...task.headers],
        })
      }
      const stream = new ResponseStream(this.#parts, task, open)
      this.#run(task, stream.output, stream.callModel)
        .then((end) => this.#ended(task, { head, output: stream.output, end }))
        .then((response) => stream.over(`response.${response.status}`, { response: withMemory(response, task) }))
        .catch((error: Error) => {
          if (stream.begun) this.#broke(stream, head, error)
          else {
            stream.giveUp()
            reject(error)
          }
        })
    })
  }

  /** Returns the document of a background response that has not begun. */
  queued(task: ToMake): ResponseDocument {
    return responseDocument(this.#head(task), { status: 'queued', model: task.plan.request.model, output: [] })
  }

  #head({ id, plan, store, conversation, createdAt = this.#seconds() }: ToMake): ResponseHead {
    const request = { request: plan.request, store, conversation: conversation?.id ?? null }
    return { id, createdAt, ...request }
  }

  #seconds(): number {
    return Math.floor(this.#parts.now() / 1000)
  }

  #run({ plan, searches, remote, signal }: ToMake, output: ResponseOutput, callModel: CallModel): Promise<RunEnd> {
    return runResponse({ plan, output, callModel, searches: [...searches, ...remote.tools], remote, signal })
  }

  /** Returns the document of an answered response, after adding it to its conversation and storing it as requested. */
  async #ended(
    task: ToMake,
    { head, output, end }: { readonly head: ResponseHead; readonly output: ResponseOutput; readonly end: RunEnd },
  ): Promise<ResponseDocument> {
    const { summary, usage, costUsd } = end
    await task.remembered?.finish()
    const incompleteReason = incompleteReasons[summary.finishReason ?? '']
    const document = responseDocument(head, {
      status: incompleteReason === undefined ? 'completed' : 'incomplete',
      model: summary.model,
      output: output.items,
      ...{ usage, costUsd },
      ...(incompleteReason === undefined ? { completedAt: this.#seconds() } : { incompleteReason }),
    })
    const added = task.conversation === null ? document : await this.#added(task, task.conversation, document)
    return task.store ? this.#kept(task, added) : added
  }

  /** Adds the answer to its conversation before returning it. If that fails, the document has no `conversation`. */
  async #added(
    { plan }: ToMake,
    { add }: NonNullable<ToMake['conversation']>,
    document: ResponseDocument,
  ): Promise<ResponseDocument> {
    try {
      await add([...plan.input, ...document.output])
      return document
    } catch (error) {
      this.#parts.log.warn({ err: error, responseId: document.id }, 'response not added to its conversation')
      return { ...document, conversation: null }
    }
  }

  /**
   * Stores the answer. If that fails, the answer is returned all the same, since it was paid for, with `store: false`.
   */
  async #kept({ caller, plan }: ToMake, document: ResponseDocument): Promise<ResponseDocument> {
    try {
      await this.#parts.stored.keep(caller, { document, input: plan.input, chain: plan.chain })
      return document
    } catch (error) {
      this.#parts.log.warn({ err: error, responseId: document.id }, 'response not stored')
      return { ...document, store: false }
    }
  }

  #broke(stream: ResponseStream, head: ResponseHead, error: Error): void {
    const { code, message } = shownError(error)
    if (!(error instanceof ServiceError)) this.#parts.log.error({ err: error, responseId: head.id }, 'response broke')
    stream.output.finish(false)
    const shown = { code: responseCodes[code] ?? 'server_error', message }
    const state = { status: 'failed', model: stream.model, output: stream.output.items, error: shown } as const
    stream.emit('response.failed', { response: responseDocument(head, state) })
    // the SDKs throw on this event: it comes last so that they also see `response.failed`
    stream.over('error', { code, message, param: null })
  }
}

/**
 * The answer to the request that made a response: with what it read and wrote of memory, which is not stored with the
 * response, so that a forgotten memory stays in no document.
 */
const withMemory = (document: ResponseDocument, { remembered }: ToMake): ResponseDocument =>
  remembered === null ? document : { ...document, memory: remembered.block }

const incompleteReasons: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
}

/** OpenAI's error codes for a response that failed after its beginning; the default is `server_error`. */
const responseCodes: Readonly<Record<string, string>> = {
  provider_rate_limited: 'rate_limit_exceeded',
  rate_limit_exceeded: 'rate_limit_exceeded',
}

const newOutput = ({ searches, remote, plan }: ToMake, emit: Emit): ResponseOutput =>
  new ResponseOutput(emit, {
    searches: new Set([...searches, ...remote.tools].map(({ name }) => name)),
    aliases: plan.tools.aliases,
    include: plan.request.include ?? [],
  })

const chatCallOf = (task: ToMake, body: WireObject): ChatCall => ({
  caller: task.caller,
  operation: 'responses.create',
  need: needOf(arrayOf(body.messages)),
  body,
  signal: task.signal,
  metadata: task.plan.request.metadata,
  ...(task.runner === 'upstream' && { formatFor: upstreamFormatFor }),
  ...reuseOf(task),
})

/** What the server's tools find may change, and is forgotten at its source. */
const reuseOf = ({ runner, searches, remote, remembered }: ToMake): Pick<ChatCall, 'reuse'> => {
  if (runner !== null || searches.length + remote.tools.length > 0) return { reuse: 'never' }
  return remembered === null ? {} : { reuse: remembered }
}

/** What a streamed call of a model reports; `isReady` is false when the reader is slow. */
interface Streaming extends Pick<ChatListener, 'begin'> {
  readonly isReady: () => boolean
  readonly control: (control: ChatControl) => void
}

const streamingCall =
  (chat: ChatCalls, task: ToMake, { begin, isReady, control }: Streaming): CallModel =>
  (body, onChoice) =>
    new Promise((resolve, reject) => {
      const call = chatCallOf(task, body)
      whenAborted(call.signal, () => reject(new ServiceError('cancelled')))
      const listener: ChatListener = {
        begin,
        chunk: (chunk) => {
          const choice = objectOf(arrayOf(chunk.choices)[0])
          task.remembered?.add(textOf(objectOf(choice.delta).content))
          onChoice(choice)
          return isReady()
        },
        end: resolve,
        fail: reject,
      }
      control(chat.stream(call, listener))
    })

/** One streamed response: the body for the caller, and the calls of the model. */
class ResponseStream {
  readonly output: ResponseOutput
  readonly body: PushedBody
  readonly emit: Emit
  /** The requested model; the one of the route as soon as the provider has begun. */
  model: string
  readonly #chat: ChatCalls
  readonly #task: ToMake
  #control: ChatControl | null = null

  constructor({ chat, keepAlive }: MakerParts, task: ToMake, open: (model: string, headers: AnswerHeaders) => void) {
    this.#chat = chat
    this.#task = task
    this.model = task.plan.request.model
    this.body = new PushedBody(
      { open: (headers) => open(this.model, headers), resume: () => this.#control?.resume() },
      keepAlive,
    )
    this.emit = new EventFrames((frame) => this.body.write(frame)).emit
    this.output = newOutput(task, this.emit)
  }

  get callModel(): CallModel {
    return streamingCall(this.#chat, this.#task, {
      begin: (about) => this.#begin(about),
      isReady: () => this.body.write(''),
      control: (control) => {
        this.#control = control
      },
    })
  }

  /** Sends the last event and ends the body. */
  over(type: string, fields: WireObject): void {
    this.emit(type, fields)
    this.body.end()
  }

  get begun(): boolean {
    return this.body.isOpen
  }

  /** Closes the body without an answer. */
  giveUp(): void {
    this.body.close()
  }

  /** The first of several model calls begins the answer. */
  #begin({ route, headers }: Parameters<ChatListener['begin']>[0]): void {
    if (this.begun) return
    this.model = route.model
    this.body.open(headers)
  }
}
