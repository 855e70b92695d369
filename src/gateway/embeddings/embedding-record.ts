import { textOf, type WireObject } from '../../outgoing/wire.ts'
import { type CallLedger, callerGone } from '../call/call-ledger.ts'
import type { Caller } from '../call/caller.ts'
import { codeOf, statusOf } from '../call/refusal.ts'
import type { Route } from '../call/routes.ts'
import type { TokenUsage } from '../prices/usage.ts'
import type { EmbeddingWish } from '../providers/embedding-format.ts'

/** What becomes of what is noted. */
export interface EmbeddingRecordParts {
  readonly ledger: Pick<CallLedger, 'record'>
  /** ms since the epoch. */
  readonly now: () => number
}

/** What is noted of one request for embeddings while it runs: for its usage row and the request log. */
export class EmbeddingRecord {
  readonly #parts: EmbeddingRecordParts
  readonly #asked: { readonly caller: Caller; readonly operation: string; readonly body: WireObject }
  readonly #startedAt: number
  readonly #started = performance.now()
  #firstByteMs: number | null = null
  attempts = 0
  route: Route | null = null
  /** As it goes to the provider: without what was redacted. */
  wish: EmbeddingWish | null = null

  constructor(
    parts: EmbeddingRecordParts,
    asked: { readonly caller: Caller; readonly operation: string; readonly body: WireObject },
  ) {
    this.#parts = parts
    this.#asked = asked
    this.#startedAt = parts.now()
  }

  /** An answer has come. */
  begun(): void {
    this.#firstByteMs ??= performance.now() - this.#started
  }

  succeeded(
    {
      model,
      vectors,
      usage,
    }: { readonly model: string; readonly vectors: readonly unknown[]; readonly usage: TokenUsage },
    costUsd: string | null,
  ): void {
    const response = (): string => JSON.stringify({ object: 'list', model, embeddings: vectors.length, usage })
    this.#write({ usage, costUsd, status: 200, error: null }, response)
  }

  failed(error: Error): void {
    const code = codeOf(error)
    const status = code === 'cancelled' ? callerGone : statusOf(error)
    this.#write({ usage: null, costUsd: '0', status, error: code }, () => '')
  }

  #write(
    end: { readonly usage: TokenUsage | null; readonly costUsd: string | null; status: number; error: string | null },
    response: () => string,
  ): void {
    const { caller, operation, body } = this.#asked
    const { usage, ...rest } = end
    this.#parts.ledger.record({
      caller,
      operation,
      need: 'embedding',
      asked: textOf(body.model),
      route: this.route,
      units: usage === null ? null : { tokens: usage },
      ...rest,
      streamed: false,
      startedAt: this.#startedAt,
      firstByteMs: this.#firstByteMs,
      durationMs: performance.now() - this.#started,
      attempts: this.attempts,
      bodies: () => ({ request: JSON.stringify(this.wish?.body ?? body), response: response() }),
    })
  }
}
