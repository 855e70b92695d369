import type { Usage } from '#gateway/prices/usage.ts'
import type { Caller } from '../caller.ts'
import type { GuardFinding } from '../guarding/guard-finding.ts'
import type { Found } from '../redaction.ts'
import type { Reuse } from '../reuse.ts'
import type { KeySource, Need, Route } from '../routes.ts'
import type { LoggedText } from './logged-text.ts'

/** HTTP status that is logged for a call whose caller disconnected. */
export const callerGone = 499

/** Maximum number of failed attempts stored in one entry of the request log. */
export const maxFailedAttempts = 20

export type FailedAttempt = {
  readonly provider: string
  readonly model: string
  readonly source: KeySource
  readonly connection_id: string | null
  /** Code of the failure. */
  readonly error: string
  readonly message: string
  /** ms from the start of the request until it failed. */
  readonly after_ms: number
}

/** One gateway request that has ended. */
export interface GatewayCall {
  readonly caller: Caller
  /** Operation id, such as `chat_completions.create`. */
  readonly operation: string
  readonly need: Need
  /** The model that the caller named. */
  readonly requestedModel: string
  /** The route that answered, or the last one tried; null when no route was tried. */
  readonly route: Route | null
  /** null when the call failed before anything was used; then nothing is charged. */
  readonly units: Usage | null
  /** USD as exact decimal text; null when the price is unknown. '0' only when the provider charges nothing. */
  readonly costUsd: string | null
  /** HTTP status that the caller received. */
  readonly status: number
  /** Code of `specs/errors/errors.ts`; null on success. */
  readonly error: string | null
  readonly streamed: boolean
  /** ms since the epoch. */
  readonly startedAt: number
  /** ms until the first byte of the answer; null when there was none. */
  readonly firstByteMs: number | null
  readonly durationMs: number
  /** Number of attempts at providers, including the successful one. */
  readonly attempts: number
  /** The first `maxFailedAttempts` failed attempts, in order; absent when there were none. */
  readonly failedAttempts?: readonly FailedAttempt[]
  /** Number of values of personal data that were replaced in the texts sent to providers, by type; absent for none. */
  readonly redactions?: Found
  /** What guardrails found; absent for none. */
  readonly guardrails?: readonly GuardFinding[]
  /** How stored answers were used; absent for a project that stores none. */
  readonly reuse?: Reuse
  /**
   * Bodies of the request and the response for the request log, built on demand after the answer has been sent; null
   * when bodies are not logged.
   */
  readonly bodies: (() => { readonly request: LoggedText; readonly response: LoggedText }) | null
}

/**
 * Records ended calls as usage rows and entries of the request log. `record` never waits and never throws; a recorded
 * call is durable within 100 ms.
 */
export interface CallLedger {
  record(call: GatewayCall): void
  /** Resolves when everything recorded so far is durable and can be listed. */
  flush(): Promise<void>
}
