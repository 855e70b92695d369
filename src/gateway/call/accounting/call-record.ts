import type { Usage } from '#gateway/prices/usage.ts'
import type { Telemetry } from '#telemetry/telemetry.ts'
import type { Span } from '#telemetry/tracer.ts'
import { type ActorCaller, type Caller, isRequest, type Payer } from '../caller.ts'
import type { ModelError } from '../provider-port.ts'
import type { Found } from '../redaction.ts'
import { codeOf } from '../refusal.ts'
import type { Route } from '../routes.ts'
import { type CallLedger, callerGone, type FailedAttempt, type GatewayCall, mostFailedAttempts } from './call-ledger.ts'

/** What becomes of a call that is over. */
export interface RecordParts {
  readonly ledger: Pick<CallLedger, 'record'>
  /** Receives what actors used, for limits of tokens; their usage rows follow from their commits. */
  readonly counted?: (call: Pick<GatewayCall, 'units'> & { readonly caller: Payer }) => void
  readonly telemetry?: Telemetry | undefined
  /** ms since the epoch. */
  readonly now: () => number
}

/** What is known of a call before it is made. */
export interface CallHead extends Pick<GatewayCall, 'operation' | 'need' | 'streamed'> {
  /** The ledger takes the calls of requests; an actor's own commit says what it used. */
  readonly caller: Caller | ActorCaller
  /** The model as the caller named it. */
  readonly model: string
}

/** What a call has come to. */
export interface CallEnd {
  /** null: nothing was used, and nothing is charged. */
  readonly usage: Usage | null
  /** USD as exact decimal text; null when the price is unknown. */
  readonly costUsd: string | null
  /** Status of the answer; the good one of its beginning for a stream that broke. */
  readonly status: number
  readonly bodies: NonNullable<GatewayCall['bodies']>
  /** Personal data that was replaced in what went to providers; absent for none. */
  readonly redactions?: Found | undefined
}

/** What is noted of one call while it runs: for its usage row and the request log. */
export class CallRecord {
  readonly #parts: RecordParts
  readonly #head: CallHead
  readonly #startedAt: number
  /** By `performance.now()`. */
  readonly startedMs = performance.now()
  /** undefined: no traces are wanted. */
  readonly #span: Span | undefined
  #firstByteMs: number | null = null
  attempts = 0
  /** The route that answered, or was tried last. */
  route: Route | null = null
  #failed: FailedAttempt[] | undefined

  constructor(parts: RecordParts, head: CallHead) {
    this.#parts = parts
    this.#head = head
    this.#startedAt = parts.now()
    this.#span = parts.telemetry?.tracer?.begin(`${genAiOperation[head.need] ?? head.need} ${head.model}`, {
      kind: 'client',
    })
  }

  /** Runs what calls a provider: its request names the span of this call. */
  within(work: () => void): void {
    const tracer = this.#parts.telemetry?.tracer
    if (this.#span === undefined || tracer === undefined || tracer === null) work()
    else tracer.within(this.#span.context, work)
  }

  /** An attempt has failed. */
  failed({ provider, model, source, connectionId }: Route, { code, message }: ModelError): void {
    this.#failed ??= []
    if (this.#failed.length >= mostFailedAttempts) return
    const after_ms = Math.round(performance.now() - this.startedMs)
    this.#failed.push({ provider, model, source, connection_id: connectionId, error: code, message, after_ms })
  }

  /** A byte of an answer has come. */
  begun(): void {
    this.#firstByteMs ??= performance.now() - this.startedMs
  }

  /** Hands the call to the ledger, once; but for an actor's, which has a row of its own. @param error null when it went well. */
  write(error: Error | null, end: CallEnd): void {
    const { usage, costUsd, status, bodies, redactions } = end
    this.#measure(error, end)
    const { caller, operation, need, model, streamed } = this.#head
    if (!isRequest(caller)) {
      this.#parts.counted?.({ caller, units: usage })
      return
    }
    const code = error === null ? null : codeOf(error)
    this.#parts.ledger.record({
      caller,
      operation,
      need,
      requestedModel: model,
      route: this.route,
      units: usage,
      costUsd,
      status: code === 'cancelled' ? callerGone : status,
      error: code,
      streamed,
      startedAt: this.#startedAt,
      firstByteMs: this.#firstByteMs,
      durationMs: performance.now() - this.startedMs,
      attempts: this.attempts,
      ...(this.#failed !== undefined && { failedAttempts: this.#failed }),
      ...(redactions !== undefined && { redactions }),
      bodies,
    })
  }

  #measure(error: Error | null, { usage, costUsd, status }: CallEnd): void {
    const { telemetry } = this.#parts
    if (telemetry === undefined) return
    const { caller, operation, need, model } = this.#head
    const code = error === null ? null : codeOf(error)
    const { inputTokens = 0, outputTokens = 0 } = usage?.tokens ?? {}
    const provider = this.route?.provider ?? null
    const answered = this.route?.model ?? 'unknown'
    telemetry.called({
      ...{ operation, project: caller.project, provider, model: answered, status, error: code },
      ...{ inputTokens, outputTokens, costUsd, firstByteMs: this.#firstByteMs, attempts: this.attempts },
      durationMs: performance.now() - this.startedMs,
    })
    this.#span?.set({
      'gen_ai.operation.name': genAiOperation[need] ?? need,
      'gen_ai.provider.name': provider ?? undefined,
      'gen_ai.request.model': model,
      'gen_ai.response.model': answered,
      'gen_ai.usage.input_tokens': inputTokens,
      'gen_ai.usage.output_tokens': outputTokens,
      'server.address': this.route === null ? undefined : new URL(this.route.baseUrl).hostname,
      'troupe.project': caller.project,
      'troupe.cost_usd': costUsd ?? undefined,
      'error.type': code ?? undefined,
    })
    this.#span?.end(code)
  }
}

/** Names of OpenTelemetry's GenAI conventions; what they do not name has ours. */
const genAiOperation: Readonly<Record<string, string>> = { chat: 'chat', embedding: 'embeddings' }
