import { parsedAnswer, parsedAtOnce } from '#outgoing/shares/parsed-answer.ts'
import { SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { textOf, type WireObject } from '#outgoing/wire.ts'
import { atOnce, nextSlice, runInSlices } from '#src/concurrency/run-in-slices.ts'
import type { ChatCache } from '../caching/chat-cache.ts'
import type { CallEnd } from '../call/accounting/call-record.ts'
import { costHeader, wholeWithCost, withCost } from '../call/accounting/shown-cost.ts'
import type { Ticket, TokenNeed } from '../call/admission.ts'
import { Attempt, type AttemptListener } from '../call/attempt.ts'
import { type CallKind, CallRun } from '../call/call-run.ts'
import { isRequest } from '../call/caller.ts'
import type { Candidate } from '../call/candidates.ts'
import type { ChatSummary } from '../call/chat-calls.ts'
import { AttemptFailed, cancelled, type ErrorAnswer, refusedAddress, streamBroken } from '../call/failure.ts'
import { onwardAfter } from '../call/onward.ts'
import { policyFor } from '../call/provider-timeouts.ts'
import { refusalOf } from '../call/refusal.ts'
import type { Reuse } from '../call/reuse.ts'
import type { Route } from '../call/routes.ts'
import { type AppliedRules, noRules } from '../call/rules/applied-rules.ts'
import { StreamGuard } from '../guardrails/stream-guard.ts'
import { finishOf, isUsageOnly } from '../providers/openai/openai-chunks.ts'
import type { AnswerListener, AnswerReader, StreamEnd } from './answer-reader.ts'
import { ChatRecord } from './chat-record.ts'
import { type ChatRequest, chatRequest, failureBy } from './chat-request.ts'
import type { ChatParts, ChatRunRequest, RunListener } from './chat-run-request.ts'
import { GatheredAnswer } from './gathered-answer.ts'
import { limitedTokens, maxCostOf, minCostOf, neededTokens } from './max-cost.ts'
import { chunksOnly, type ReadingOptions, streamReader, wholeReader } from './open-reader.ts'
import { withUsage } from './possible-usage.ts'
import { ChatPreparation } from './preparing/chat-preparation.ts'
import { hasMediaToFetch, withFetchedMedia } from './preparing/fetched-media.ts'
import { chatCandidates, chatRules } from './rules/chat-candidates.ts'
import { readWhole, type Whole } from './whole-answer.ts'
import { kindOf, WholeReader } from './whole-reader.ts'
import { withTokenLimit } from './wire-body.ts'

/** Size from which the personal data of an answer is restored in steps, so that the event loop is not blocked. */
const longAnswerBytes = 64 * 1024

/**
 * The chat-specific part of one call: what it sends, and how its answer is read and passed on. Either `whole`, `end` or
 * `fail` of the listener is called, once, unless the run is cancelled before.
 */
export class ChatRun implements CallKind<Candidate>, AttemptListener, AnswerListener {
  readonly caller: ChatRunRequest['caller']
  readonly operation: string
  readonly need: 'chat' | 'vision'
  readonly model: string
  readonly streamed: boolean
  readonly #parts: ChatParts
  readonly #listener: RunListener
  readonly #run: CallRun<Candidate>
  readonly #record: ChatRecord
  readonly #prepared: ChatPreparation
  /** Limit of output tokens; null for that of the request. */
  #limitedTo: number | null = null
  #request: ChatRequest | null = null
  #attempt: Attempt | null = null
  #reader: AnswerReader | null = null
  readonly #whole: GatheredAnswer
  #delivered = false
  #rules: AppliedRules = noRules
  /** The chunk with the usage, to which the cost is added; sent last. */
  #usageChunk: WireObject | null = null
  #cache: ChatCache | null = null
  /** Holds back what may not be sent yet of the stream of this attempt; null for none. */
  #stream: StreamGuard | null = null

  constructor(parts: ChatParts, input: ChatRunRequest, listener: RunListener) {
    this.caller = input.caller
    this.operation = input.operation
    this.need = input.need
    this.model = textOf(input.body.model)
    this.streamed = input.stream
    this.#parts = parts
    this.#listener = listener
    this.#whole = new GatheredAnswer(input.caller.project)
    this.#run = new CallRun<Candidate>(parts, this)
    this.#prepared = new ChatPreparation(parts, this.#run, input)
    this.#record = new ChatRecord(this.#run.record, input)
  }

  start(): void {
    if (this.#run.isOver) return
    this.#run.after(
      () => chatRules(this.#parts, this.#input),
      (rules) => {
        this.#rules = rules
        this.#prepared.start(rules.served?.model ?? null, () => this.#begin())
      },
    )
  }

  #begin(): void {
    this.#cache = this.#prepared.cache
    this.#record.request = this.#input
    this.#run.start(chatCandidates(this.#parts, this.#input, this.#rules))
  }

  /** Resumes reading, after the listener paused it. */
  resume(): void {
    this.#attempt?.resume()
  }

  /** Ends the run because the caller has disconnected: the attempt is cancelled and nothing more is passed on. */
  cancel(): void {
    if (this.#run.isOver) return
    this.#attempt?.cancel()
    this.#run.close(refusalOf(cancelled()))
  }

  counted(): Promise<void> | undefined {
    return this.#run.counted()
  }

  reuse(): Reuse | null {
    return this.#prepared.reuse
  }

  maxUsd({ route }: Candidate): string | null {
    return maxCostOf(this.#input.body, route)
  }

  /** If the caller sets no limit on its length, an answer can be limited to what the remaining budget affords. */
  minUsd({ route }: Candidate): string | null {
    return minCostOf(this.#input.body, route)
  }

  tokens({ route }: Candidate): TokenNeed {
    return neededTokens(this.#input.body, route)
  }

  limit({ route }: Candidate, ticket: Ticket): number | null {
    this.#limitedTo = limitedTokens(this.#input.body, route, ticket)
    return this.#limitedTo
  }

  /** Permission is valid for one model, provider and kind of key: other routes may have another price or payer. */
  sharesTicket(before: Candidate, candidate: Candidate): boolean {
    const [{ source, provider }, next] = [before.route, candidate.route]
    return before.model === candidate.model && source === next.source && provider === next.provider
  }

  readonly onward = onwardAfter
  readonly refusalOf = refusalOf

  refuse(error: Error): void {
    this.#noteSoFar()
    this.#listener.fail(error, this.#record.partial())
  }

  end(error: Error | null): CallEnd {
    this.#whole.clear()
    if (error !== null) this.#noteSoFar()
    else if (this.#rules.shadow !== null && this.reuse()?.status !== 'hit')
      this.#parts.shadows.copy(this.#input, this.#rules.shadow.model)
    return { ...this.#record.end(error), ...this.#prepared.findings }
  }

  attempt({ model, route }: Candidate): void {
    const { guard } = this.#prepared
    this.#stream = guard?.checksOutput === true && this.streamed ? new StreamGuard(guard) : null
    const stored = this.#cache?.answer ?? null
    if (stored !== null) {
      // as if a provider had sent it at once
      this.bytes(stored)
      this.over()
      return
    }
    // the answer of a fallback is not that of the model
    if (model === (this.#rules.served?.model ?? this.model)) this.#cache?.begin()
    else this.#cache = null
    try {
      this.#send(route)
    } catch (error) {
      throw error instanceof SsrfRefused ? refusedAddress() : error
    }
  }

  bytes(part: Buffer): void {
    this.#run.record.begun()
    if (!this.streamed) {
      this.#whole.push(part)
      return
    }
    this.#cache?.add(part)
    const reader = this.#reader ?? this.#readerOf(kindOf(part))
    if (reader === null) return
    if (reader instanceof WholeReader) this.#whole.reserve(part)
    if (!reader.push(part)) this.#attempt?.pause()
    if (this.#stream?.isBlocked === true) this.#block(this.#stream, reader)
    // a listener may have cancelled the run in the meantime
    if (!reader.done || this.#run.isOver) return
    this.#endStream(reader)
    this.#attempt?.finish()
  }

  over(): void {
    if (this.streamed) this.#endStream(this.#reader ?? streamReader(this, this.#reading))
    else this.#endWhole()
  }

  frames(bytes: Buffer): boolean {
    if (this.#run.isOver) return false
    this.#deliver()
    this.#record.answer.frames(bytes)
    return this.#listener.frames(bytes)
  }

  chunk(chunk: WireObject): boolean {
    if (this.#run.isOver) return false
    const stream = this.#stream
    if (stream === null || isUsageOnly(chunk)) return this.#pass(chunk)
    const shown = stream.isBlocked ? null : stream.chunk(chunk)
    return shown === null || stream.isBlocked || this.#pass(shown)
  }

  words(text: string): boolean {
    if (this.#run.isOver) return false
    this.#deliver()
    return this.#listener.words?.(text) ?? true
  }

  #pass(chunk: WireObject): boolean {
    if (isUsageOnly(chunk)) {
      this.#usageChunk = chunk
      return true
    }
    this.#deliver()
    this.#record.chunk(chunk)
    return this.#listener.chunk(chunk)
  }

  failureOf(answer: ErrorAnswer): AttemptFailed {
    return failureBy(this.#run.record.route, answer)
  }

  failed(failure: AttemptFailed): void {
    this.#attempt = null
    this.#run.failed(failure)
  }

  get #input(): ChatRunRequest {
    return this.#prepared.input
  }

  #send(route: Route): void {
    const go = (input: ChatRunRequest): void => this.#sendAs(input, route)
    if (!hasMediaToFetch(this.#input, route, this.#parts.media)) go(this.#input)
    else this.#run.after(() => withFetchedMedia(this.#input, route, { ...this.#parts.media, run: this.#run }), go)
  }

  #sendAs(input: ChatRunRequest, route: Route): void {
    const tokens = this.#limitedTo
    const request = chatRequest(tokens === null ? input : withTokenLimit(input, route, tokens), route)
    const { posting, basePath } = this.#parts.upstreams.of(route)
    this.#request = request
    this.#reader = null
    this.#whole.clear()
    this.#run.record.attempts++
    const patience = policyFor(this.#parts.patience, route.waits, this.caller.timeoutMs)
    const attempt = new Attempt(this, patience, this.#run.record.startedMs)
    this.#attempt = attempt
    const via = isRequest(this.caller) ? this.caller.via : undefined
    const once = via === undefined ? request.once : { ...request.once, via }
    const { path, headers, body } = request
    const post = (sent: string | Uint8Array): void => {
      if (this.#attempt === attempt) posting.dispatch({ path: basePath + path, headers, once, body: sent }, attempt)
    }
    if (body instanceof Promise) this.#run.after(() => body, post)
    else post(body)
  }

  /** Returns the reader for an answer that begins with these bytes; null for blank lines that only keep it alive. */
  #readerOf(kind: ReturnType<typeof kindOf>): AnswerReader | null {
    if (kind === 'events') this.#reader = streamReader(this, this.#reading)
    else if (kind === 'json') this.#reader = wholeReader(this, this.#reading)
    return this.#reader
  }

  get #reading(): ReadingOptions {
    const format = this.#request?.format ?? null
    const { input, restorer } = this.#prepared
    const takes = this.#stream === null ? this.#listener : chunksOnly
    return { body: input.body, format, route: this.#run.record.route, restorer, takes }
  }

  /** Begins the answer when its first part is passed on: from here on nothing is retried. */
  #deliver(): void {
    if (this.#delivered) return
    this.#delivered = true
    this.#run.begin()
    const { route } = this.#run.record
    if (route !== null) this.#listener.begin({ route, headers: this.#headers(this.#stream !== null) })
  }

  /** @param isPending whether a stream begins, whose answer guardrails have still to check. */
  #headers(isPending = false): ChatSummary['headers'] {
    return [...this.#run.headers(), ...(this.#prepared.guard?.headers(isPending) ?? [])]
  }

  #endStream(reader: AnswerReader): void {
    const [end, stream] = [reader.finish(), this.#stream]
    if (this.#run.isOver) return
    if (stream === null) this.#endChecked(reader, end)
    else if (stream.isBlocked) this.#block(stream, reader)
    else
      this.#run.after(
        () => stream.end(),
        (chunks) => {
          for (const chunk of chunks) this.#pass(chunk)
          this.#endChecked(reader, stream.isBlocked ? { ...end, finishReason: 'content_filter' } : end)
        },
      )
  }

  /** Ends a stream that a guardrail blocks, before the model has ended it: what was read is charged. */
  #block(stream: StreamGuard, reader: AnswerReader): void {
    if (this.#run.isOver) return
    this.#attempt?.cancel()
    this.#cache = null
    this.#pass(stream.refusal)
    this.#endChecked(reader, { model: '', usage: null, finishReason: 'content_filter' })
  }

  #endChecked(reader: AnswerReader, end: StreamEnd): void {
    if (this.#run.isOver) return
    this.#deliver()
    this.#record.tokensSoFar = reader.tokensSoFar
    const summary = this.#record.summary(end, this.#headers())
    if (this.#usageChunk !== null)
      this.#listener.chunk(withCost(withUsage(this.#usageChunk, end, summary), summary.costUsd))
    this.#listener.end(summary)
    this.#run.succeed()
    const { format = null } = this.#request ?? {}
    this.#cache?.keepStream((bytes) => readWhole(bytes, parsedAtOnce(bytes), format).completion, summary.costUsd)
  }

  #endWhole(): void {
    const { bytes } = this.#whole
    const json = parsedAnswer(bytes)
    if (json instanceof Promise) void json.then((late) => this.#endLate(bytes, late))
    else this.#endRead(bytes, json)
  }

  /** Like `#endRead` but after the attempt has ended, when an exception would not be caught by it. */
  #endLate(bytes: Buffer, json: unknown): void {
    if (this.#run.isOver) return
    try {
      this.#endRead(bytes, json)
    } catch (error) {
      this.failed(error instanceof AttemptFailed ? error : streamBroken())
    }
  }

  #endRead(bytes: Buffer, json: unknown): void {
    const read = readWhole(bytes, json, this.#request?.format ?? null)
    const restoring = this.#prepared.restorer?.restoring(read.completion) ?? null
    if (restoring === null) this.#checkWhole(bytes, read, read.completion)
    else if (bytes.length <= longAnswerBytes) this.#checkWhole(bytes, read, atOnce(restoring))
    else
      this.#run.after(
        () => nextSlice().then(() => runInSlices(restoring)),
        (completion) => this.#checkWhole(bytes, read, completion),
      )
  }

  #checkWhole(bytes: Buffer, read: Whole, completion: WireObject): void {
    const guard = this.#prepared.guard
    if (guard?.checksOutput !== true) this.#deliverWhole(bytes, read, completion)
    else
      this.#run.after(
        () => guard.answer(completion),
        (checked) => this.#deliverWhole(bytes, { ...read, finishReason: finishOf(checked) }, checked),
      )
  }

  #deliverWhole(bytes: Buffer, read: Whole, completion: WireObject): void {
    this.#record.completion = completion
    const summary = this.#record.summary(read, this.#headers())
    const { costUsd, headers: own } = summary
    const shown = withUsage(completion, read, summary)
    const isOriginal =
      (this.#request?.format ?? null) === null && shown === read.completion && read.gathered === undefined
    const headers = costUsd === null ? own : [...own, ...costHeader(costUsd)]
    this.#listener.whole({
      ...summary,
      headers,
      completion: withCost(shown, costUsd),
      bytes: isOriginal ? wholeWithCost(bytes, shown, costUsd) : null,
    })
    this.#run.succeed()
    this.#cache?.keep(read.completion, costUsd)
  }

  #noteSoFar(): void {
    this.#record.tokensSoFar = this.#delivered ? (this.#reader?.tokensSoFar ?? 0) : null
  }
}
