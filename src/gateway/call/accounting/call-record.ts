import type { Usage } from '#gateway/prices/usage.ts'
import type { Telemetry } from '#telemetry/telemetry.ts'
import type { Span } from '#telemetry/tracer.ts'
import { type ActorCaller, type Caller, isRequest } from '../caller.ts'
import type { GuardFinding } from '../guarding/guard-finding.ts'
import type { ModelError } from '../provider-port.ts'
import type { Found } from '../redaction.ts'
import { codeOf } from '../refusal.ts'
import type { Reuse } from '../reuse.ts'
import type { Route } from '../routes.ts'
import { type CallLedger, callerGone, type FailedAttempt, type GatewayCall, maxFailedAttempts } from './call-ledger.ts'

/** Consumers of a call that has ended. */
export interface RecordParts {
  readonly ledger: Pick<CallLedger, 'record'>
  readonly telemetry?: Telemetry | undefined
  /** ms since the epoch. */
  readonly now: () => number
}

/** Properties of a call that are known before it is made. */
export interface CallHead extends Pick<GatewayCall, 'operation' | 'need' | 'streamed'> {
  /** The ledger records only calls of requests; the usage of an actor is in the actor's own commit. */
  readonly caller: Caller | ActorCaller
  /** The model as the caller named it. */
  readonly model: string
  /** Returns how stored answers are used; null for a project that stores none. Known before the call is admitted. */
  reuse?(): Reuse | null
}

/** Result of a call that has ended. */
export interface CallEnd {
  /** null when nothing was used; then nothing is charged. */
  readonly usage: Usage | null
  /** USD as exact decimal text; null when the price is unknown. */
  readonly costUsd: string | null
  /** HTTP status of the answer; the success status it began with, for a stream that broke. */
  readonly status: number
  readonly bodies: NonNullable<GatewayCall['bodies']>
  /** Why the model stopped; absent where it has no answer, or kinds of calls without one. */
  readonly finishReason?: string | null
  /** Number of values of personal data that were replaced in the texts sent to providers, by type; absent for none. */
  readonly redactions?: Found | undefined
  /** What guardrails found; absent or empty for none. */
  readonly guardrails?: readonly GuardFinding[] | undefined
}

/** Collects the data of one running call for its usage row, the request log and telemetry. */
export class CallRecord {
  readonly #parts: RecordParts
  readonly #head: CallHead
  readonly #startedAt: number
  /** By `performance.now()`. */
  readonly startedMs = performance.now()
  /** undefined when tracing is off. */
  readonly #span: Span | undefined
  #firstByteMs: number | null = null
  attempts = 0
  /** The route that answered, or the last one tried. */
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

  /**
   * Runs `work`, which sends the request to a provider, with the call's span as the current one, so that the request
   * carries it.
   */
  within(work: () => void): void {
    const tracer = this.#parts.telemetry?.tracer
    if (this.#span === undefined || tracer === undefined || tracer === null) work()
    else tracer.within(this.#span.context, work)
  }

  get reuse(): Reuse | null {
    return this.#head.reuse?.() ?? null
  }

  /** Notes a failed attempt. */
  failed({ provider, model, source, connectionId }: Route, { code, message }: ModelError): void {
    this.#failed ??= []
    if (this.#failed.length >= maxFailedAttempts) return
    const after_ms = Math.round(performance.now() - this.startedMs)
    this.#failed.push({ provider, model, source, connection_id: connectionId, error: code, message, after_ms })
  }

  /** Notes that the first byte of an answer has arrived; later calls have no effect. */
  begun(): void {
    this.#firstByteMs ??= performance.now() - this.startedMs
  }

  /**
   * Hands the call to the ledger; called once. The usage row of an actor's call follows from its own commit.
   * @param error null on success.
   */
  write(error: Error | null, end: CallEnd): void {
    const { reuse } = this
    const { usage, costUsd, status, bodies, redactions, guardrails = [] } = end
    this.#measure(error, end)
    const { caller, operation, need, model, streamed } = this.#head
    if (!isRequest(caller)) return
    const code = error === null ? null : codeOf(error)
    const call: GatewayCall = {
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
      ...(guardrails.length > 0 && { guardrails: [...guardrails] }),
      ...(reuse !== null && { reuse }),
      bodies,
    }
    if (caller.line === undefined) this.#parts.ledger.record(call)
    else caller.line.add(call)
  }

  #measure(error: Error | null, { usage, costUsd, status, finishReason }: CallEnd): void {
    const { telemetry } = this.#parts
    if (telemetry === undefined) return
    const { caller, operation, need, model, streamed } = this.#head
    const code = error === null ? null : codeOf(error)
    const { inputTokens = 0, outputTokens = 0 } = usage?.tokens ?? {}
    const provider = this.route?.provider ?? null
    const answered = this.route?.model ?? 'unknown'
    telemetry.called({
      operation,
      project: caller.project,
      provider,
      model: answered,
      status,
      error: code,
      inputTokens,
      outputTokens,
      costUsd,
      firstByteMs: this.#firstByteMs,
      attempts: this.attempts,
      durationMs: performance.now() - this.startedMs,
    })
    this.#span?.set({
      'gen_ai.operation.name': genAiOperation[need] ?? need,
      'gen_ai.provider.name': provider ?? undefined,
      'gen_ai.request.model': model,
      'gen_ai.response.model': answered,
      'gen_ai.usage.input_tokens': inputTokens,
      'gen_ai.usage.output_tokens': outputTokens,
      'gen_ai.response.finish_reasons': finishReason ? [finishReason] : undefined,
      'gen_ai.response.time_to_first_chunk':
        streamed && this.#firstByteMs !== null ? this.#firstByteMs / 1_000 : undefined,
      'gen_ai.conversation.id': isRequest(caller) ? undefined : caller.actor,
      'gen_ai.agent.id': caller.agentId ?? undefined,
      'server.address': this.route === null ? undefined : new URL(this.route.baseUrl).hostname,
      'troupe.project': caller.project,
      'troupe.cost_usd': costUsd ?? undefined,
      'error.type': code ?? undefined,
    })
    this.#span?.end(code)
  }
}

/** Operation names of the OpenTelemetry GenAI conventions; a need without one keeps the gateway's name. */
const genAiOperation: Readonly<Record<string, string>> = { chat: 'chat', embedding: 'embeddings' }
