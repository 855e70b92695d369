import type { Usage } from '../prices/usage.ts'
import { type CallLedger, callerGone, type GatewayCall } from './call-ledger.ts'
import { type ActorCaller, type Caller, isRequest, type Payer } from './caller.ts'
import { codeOf } from './refusal.ts'
import type { Route } from './routes.ts'

/** What becomes of a call that is over. */
export interface RecordParts {
  readonly ledger: Pick<CallLedger, 'record'>
  /** Receives what actors used, for limits of tokens; their usage rows follow from their commits. */
  readonly counted?: (call: Pick<GatewayCall, 'units'> & { readonly caller: Payer }) => void
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
}

/** What is noted of one call while it runs: for its usage row and the request log. */
export class CallRecord {
  readonly #parts: RecordParts
  readonly #head: CallHead
  readonly #startedAt: number
  readonly #started = performance.now()
  #firstByteMs: number | null = null
  attempts = 0
  /** The route that answered, or was tried last. */
  route: Route | null = null

  constructor(parts: RecordParts, head: CallHead) {
    this.#parts = parts
    this.#head = head
    this.#startedAt = parts.now()
  }

  /** A byte of an answer has come. */
  begun(): void {
    this.#firstByteMs ??= performance.now() - this.#started
  }

  /** Hands the call to the ledger, once; but for an actor's, which has a row of its own. @param error null when it went well. */
  write(error: Error | null, { usage, costUsd, status, bodies }: CallEnd): void {
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
      asked: model,
      route: this.route,
      units: usage,
      costUsd,
      status: code === 'cancelled' ? callerGone : status,
      error: code,
      streamed,
      startedAt: this.#startedAt,
      firstByteMs: this.#firstByteMs,
      durationMs: performance.now() - this.#started,
      attempts: this.attempts,
      bodies,
    })
  }
}
