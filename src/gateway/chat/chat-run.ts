import { SsrfRefused } from '../../outgoing/ssrf-guard.ts'
import { arrayOf, countOf, textOf, type WireObject } from '../../outgoing/wire.ts'
import type { Admission, Ticket } from '../call/admission.ts'
import { Attempt, type AttemptTaker, type Patience } from '../call/attempt.ts'
import { type CallPolicy, waitBefore } from '../call/call-policy.ts'
import { type ActorCaller, type Caller, isRequest } from '../call/caller.ts'
import { type Candidate, Candidates, type CandidatesParts } from '../call/candidates.ts'
import type { ChatSummary } from '../call/chat-calls.ts'
import { type AttemptFailed, cancelled, refusedAddress } from '../call/failure.ts'
import type { ModelErrorCode } from '../call/provider-port.ts'
import type { Redaction } from '../call/redaction.ts'
import { refusalOf } from '../call/refusal.ts'
import type { Upstreams } from '../call/upstreams.ts'
import { redactChat } from '../redaction/chat-redaction.ts'
import type { ChatRestorer } from '../redaction/chat-restorer.ts'
import type { AnswerReader, AnswerTaker } from './answer-reader.ts'
import { CallRecord, type RecordParts, type Spent } from './call-record.ts'
import { ChunkReader } from './chunk-reader.ts'
import { FrameReader } from './frame-reader.ts'
import { mostCostOf } from './most-cost.ts'
import { OpenAiDecoder } from './openai-decoder.ts'
import { type Order, orderFor } from './order.ts'
import { seeingRoute, showsImages } from './seeing.ts'
import { failureBy } from './status-failure.ts'
import { readWhole } from './whole-answer.ts'
import { kindOf, WholeReader } from './whole-reader.ts'
import { type AskedBody, asksUsage } from './wire-body.ts'

/** What every chat request goes by. */
export interface ChatParts extends CandidatesParts, RecordParts {
  readonly admission: Admission
  readonly redaction: Redaction
  readonly upstreams: Upstreams
  readonly policy: CallPolicy
  readonly patience: Patience
}

/** One chat request, with the bytes that its body came as. */
export interface RunAsk extends AskedBody {
  /** The ledger takes the calls of requests; an actor's own commit says what it used. */
  readonly caller: Caller | ActorCaller
  /** Operation id, for the log. */
  readonly operation: string
  readonly need: 'chat' | 'vision'
}

/** A whole answer. `bytes` is `completion` as it came; null when it was made or changed here. */
export interface WholeAnswer extends ChatSummary {
  readonly completion: WireObject
  readonly bytes: Buffer | null
}

/** Who gets the answer: `whole`, or `begin`, frames and chunks, and `end`; or `fail`, before the beginning or after it. */
export interface RunTaker extends AnswerTaker {
  /** Frames as they came are welcome; else chunks are made of them. */
  readonly takesFrames: boolean
  begin(about: Pick<ChatSummary, 'route' | 'headers'>): void
  whole(answer: WholeAnswer): void
  end(summary: ChatSummary): void
  /** @param spent what was used before it broke; null when nothing was handed on. */
  fail(error: Error, spent: Spent | null): void
}

/** Where there is another way, no time is spent on one that does not answer. */
const retriesBesideOthers = 1

/** What another model may take although this one did not. */
const otherModelMay: ReadonlySet<ModelErrorCode> = new Set(['context_length_exceeded', 'content_policy_violation'])

/** What no other provider would take either. */
const final: ReadonlySet<ModelErrorCode> = new Set(['bad_request', 'cancelled'])

/**
 * One chat request on its way: who can serve it, leave to call, attempts until the first byte, the answer, what it cost.
 * Nothing waits for a promise where an answer is at hand. Either `whole`, `end` or `fail` of the taker is called, once,
 * unless the run is cancelled before.
 */
export class ChatRun implements AttemptTaker, AnswerTaker {
  readonly #parts: ChatParts
  readonly #taker: RunTaker
  readonly #record: CallRecord
  #asked: RunAsk
  #restorer: ChatRestorer | null = null
  #candidates: Candidates | null = null
  #candidate: Candidate | null = null
  #ticket: Ticket | null = null
  #ticketFor: Candidate | null = null
  #settled: Ticket | null = null
  #failedHere = 0
  #lastFailure: Error | null = null
  #timer: NodeJS.Timeout | null = null
  #order: Order | null = null
  #attempt: Attempt | null = null
  #reader: AnswerReader | null = null
  #whole: Buffer[] = []
  #delivered = false
  #over = false

  constructor(parts: ChatParts, asked: RunAsk, taker: RunTaker) {
    this.#parts = parts
    this.#asked = asked
    this.#taker = taker
    this.#record = new CallRecord(parts, asked)
  }

  start(): void {
    if (this.#over) return
    const { caller } = this.#asked
    this.#after(
      () => this.#parts.redaction.policyOf(caller.project),
      (policy) => {
        const { body, need } = this.#asked
        this.#candidates = new Candidates(this.#parts, caller.project, need, modelsOf(body))
        if (policy !== null) this.#redact(redactChat(body, policy))
        this.#next()
      },
    )
  }

  /** The reader of the answer takes more again. */
  resume(): void {
    this.#attempt?.resume()
  }

  /** The caller is gone: what runs for it ends at once, and nothing more is handed on. */
  cancel(): void {
    if (this.#over) return
    this.#attempt?.cancel()
    this.#close(refusalOf(cancelled()))
  }

  counted(): Promise<void> | undefined {
    return this.#settled?.counted?.()
  }

  bytes(part: Buffer): void {
    this.#record.begun()
    if (!this.#asked.stream) {
      this.#whole.push(part)
      return
    }
    const reader = this.#reader ?? this.#readerOf(kindOf(part))
    if (reader === null) return
    if (!reader.push(part)) this.#attempt?.pause()
    // whoever was told may be gone
    if (!reader.done || this.#over) return
    this.#endStream(reader)
    this.#attempt?.finish()
  }

  over(): void {
    if (this.#asked.stream) this.#endStream(this.#reader ?? this.#newReader())
    else this.#endWhole()
  }

  frames(bytes: Buffer): boolean {
    if (this.#over) return false
    this.#deliver()
    this.#record.answer.frames(bytes)
    return this.#taker.frames(bytes)
  }

  chunk(chunk: WireObject): boolean {
    if (this.#over) return false
    this.#deliver()
    // an actor's own log has its answer
    if (isRequest(this.#asked.caller)) this.#record.answer.chunk(chunk)
    return this.#taker.chunk(chunk)
  }

  failureOf(status: number, body: string, retryAfter: string | null): AttemptFailed {
    return failureBy(this.#candidate?.route ?? null, status, body, retryAfter)
  }

  failed(failure: AttemptFailed): void {
    const { error } = failure
    this.#attempt = null
    if (this.#over) return
    const route = this.#candidate?.route
    if (route !== undefined) this.#parts.breaker.failed(route, error.code)
    if (this.#delivered) {
      this.#fail(error)
      return
    }
    this.#lastFailure = error
    const waitMs = waitBefore(this.#failedHere++, failure, this.#policy(), Math.random)
    if (waitMs !== undefined) this.#timer = setTimeout(() => this.#send(), waitMs)
    else this.#elsewhere(error.code)
  }

  #redact({ body, restorer }: ReturnType<typeof redactChat>): void {
    if (body === this.#asked.body) return
    this.#asked = { ...this.#asked, body, bytes: null, encoded: undefined }
    this.#restorer = restorer
    this.#record.asked = this.#asked
  }

  #policy(): CallPolicy {
    const { policy } = this.#parts
    if (this.#candidates?.hasMore !== true) return policy
    return { ...policy, retries: Math.min(policy.retries, retriesBesideOthers) }
  }

  #elsewhere(code: ModelErrorCode): void {
    if (otherModelMay.has(code)) this.#candidates?.skipModel()
    if (final.has(code)) this.#fail(this.#lastFailure)
    else this.#next()
  }

  #next(): void {
    this.#after(
      () => this.#candidates?.next() ?? null,
      (candidate) => {
        if (candidate === null) {
          this.#fail(this.#lastFailure)
          return
        }
        const { body } = this.#asked
        const seeing = showsImages(body) ? { ...candidate, route: seeingRoute(candidate.route) } : candidate
        this.#candidate = seeing
        this.#failedHere = 0
        this.#record.route = seeing.route
        this.#admit(seeing)
      },
    )
  }

  /** Leave to call stands for a model by somebody's key: another way may be charged to somebody else. */
  #admit(candidate: Candidate): void {
    const { route, model } = candidate
    if (this.#ticketFor?.model === model && this.#ticketFor.route.source === route.source) {
      this.#send()
      return
    }
    this.#giveBack('0')
    const { caller, need, body } = this.#asked
    this.#after(
      () =>
        this.#parts.admission.admit({
          caller,
          need,
          model,
          source: route.source,
          mostUsd: () => mostCostOf(body, route),
        }),
      (ticket) => {
        this.#ticket = ticket
        this.#ticketFor = candidate
        this.#send()
      },
      (late) => late.settle('0'),
    )
  }

  #send(): void {
    const route = this.#candidate?.route
    if (route === undefined || this.#over) return
    try {
      const order = orderFor(this.#asked, route)
      const { posts, basePath } = this.#parts.upstreams.of(route)
      this.#order = order
      this.#reader = null
      this.#whole = []
      this.#record.attempts++
      const attempt = new Attempt(this, this.#parts.patience)
      this.#attempt = attempt
      const { caller } = this.#asked
      const via = isRequest(caller) ? caller.via : undefined
      const headers = via === undefined ? order.headers : { ...order.headers, via }
      posts.dispatch({ path: basePath + order.path, headers, body: order.body }, attempt)
    } catch (error) {
      if (error instanceof SsrfRefused) this.failed(refusedAddress())
      else this.#fail(error)
    }
  }

  /** The reader of an answer that begins so; null while nothing is said, and lines keep the connection alive. */
  #readerOf(kind: ReturnType<typeof kindOf>): AnswerReader | null {
    if (kind === 'events') this.#reader = this.#newReader()
    else if (kind === 'json') this.#reader = this.#newWholeReader()
    return this.#reader
  }

  /** For a server that answers as it likes: whole, although it was asked for a stream. */
  #newWholeReader(): AnswerReader {
    const hidesUsage = !asksUsage(this.#asked.body)
    return new WholeReader(this, { format: this.#order?.format ?? null, hidesUsage, restorer: this.#restorer })
  }

  #newReader(): AnswerReader {
    const { body } = this.#asked
    const format = this.#order?.format ?? null
    const hidesUsage = !asksUsage(body)
    const restorer = this.#restorer
    if (format === null && restorer === null && this.#taker.takesFrames)
      return new FrameReader(this, { hidesUsage, choices: countOf(body.n) || 1 })
    return new ChunkReader(this, format?.decoder() ?? new OpenAiDecoder(), { hidesUsage, restorer })
  }

  /** The first part of the answer: from here on nothing is tried again. */
  #deliver(): void {
    if (this.#delivered) return
    this.#delivered = true
    const route = this.#candidate?.route
    if (route !== undefined) this.#taker.begin({ route, headers: this.#headers() })
  }

  #endStream(reader: AnswerReader): void {
    const end = reader.finish()
    if (this.#over) return
    this.#deliver()
    this.#record.tokensSoFar = reader.tokensSoFar
    const summary = this.#record.summary(end, this.#headers())
    this.#taker.end(summary)
    this.#succeeded(summary)
  }

  #endWhole(): void {
    const [first] = this.#whole
    const bytes = this.#whole.length === 1 && first !== undefined ? first : Buffer.concat(this.#whole)
    const read = readWhole(bytes, this.#order?.format ?? null)
    const isOriginal = this.#order?.format === null && this.#restorer === null && read.gathered === undefined
    const completion = this.#restorer?.completion(read.completion) ?? read.completion
    this.#record.completion = completion
    const summary = this.#record.summary(read, this.#headers())
    this.#taker.whole({ ...summary, completion, bytes: isOriginal ? bytes : null })
    this.#succeeded(summary)
  }

  #succeeded({ route, costUsd }: ChatSummary): void {
    this.#over = true
    this.#parts.breaker.worked(route)
    this.#giveBack(costUsd)
    this.#record.write(null)
  }

  #headers(): ChatSummary['headers'] {
    return this.#record.headers(this.#ticket)
  }

  #fail(failure: unknown): void {
    if (this.#over) return
    const error = refusalOf(failure)
    this.#noteSoFar()
    this.#taker.fail(error, this.#record.partial())
    this.#close(error)
  }

  #close(error: Error): void {
    this.#over = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#noteSoFar()
    this.#giveBack(this.#record.partialCost())
    this.#record.write(error)
  }

  #noteSoFar(): void {
    this.#record.tokensSoFar = this.#delivered ? (this.#reader?.tokensSoFar ?? 0) : null
  }

  #giveBack(usd: string | null): void {
    this.#ticket?.settle(usd)
    this.#settled = this.#ticket ?? this.#settled
    this.#ticket = null
    this.#ticketFor = null
  }

  /** Goes on at once where nothing has to be waited for. @param tooLate what to do with what comes when all is over. */
  #after<T>(get: () => T | Promise<T>, go: (value: T) => void, tooLate: (value: T) => void = () => {}): void {
    try {
      const value = get()
      if (value instanceof Promise) {
        value.then((late) => (this.#over ? tooLate(late) : go(late))).catch((error: unknown) => this.#fail(error))
      } else go(value)
    } catch (error) {
      this.#fail(error)
    }
  }
}

/** The model that was asked for, then the fallbacks. */
const modelsOf = ({ model, models }: RunAsk['body']): readonly string[] =>
  models === undefined ? [textOf(model)] : [...new Set([textOf(model), ...arrayOf(models).map(textOf)])]
