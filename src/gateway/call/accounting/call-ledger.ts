import type { Usage } from '#gateway/prices/usage.ts'
import type { Caller } from '../caller.ts'
import type { Found } from '../redaction.ts'
import type { KeySource, Need, Route } from '../routes.ts'
import type { LoggedText } from './logged-text.ts'

/** Status under which a call is logged whose caller went away. */
export const callerGone = 499

/** Attempts that failed which a line of the request log keeps. */
export const mostFailedAttempts = 20

/** One attempt that failed. */
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

/** One gateway request that is over. */
export interface GatewayCall {
  readonly caller: Caller
  /** Operation id, such as `chat_completions.create`. */
  readonly operation: string
  readonly need: Need
  /** The model that the caller named. */
  readonly requestedModel: string
  /** The route that answered, or was tried last; null when none was. */
  readonly route: Route | null
  /** null: it failed before anything was used; then nothing is charged. */
  readonly units: Usage | null
  /** USD as exact decimal text; null when the price is unknown. '0' only when the provider charges nothing. */
  readonly costUsd: string | null
  /** Status that the caller got. */
  readonly status: number
  /** Code of `specs/errors/errors.ts`; null when nothing went wrong. */
  readonly error: string | null
  readonly streamed: boolean
  /** ms since the epoch. */
  readonly startedAt: number
  /** ms until the first byte of the answer; null when there was none. */
  readonly firstByteMs: number | null
  readonly durationMs: number
  /** Attempts at providers, the successful one included. */
  readonly attempts: number
  /** Attempts that failed, in order, the first `mostFailedAttempts` of them; absent for none. */
  readonly failedAttempts?: readonly FailedAttempt[]
  /** Personal data that was replaced in what went to providers; absent for none. */
  readonly redactions?: Found
  /** Request and response, for the request log, made on demand after the answer is out; null: nothing is kept. */
  readonly bodies: (() => { readonly request: LoggedText; readonly response: LoggedText }) | null
}

/** Takes what is over: usage rows and request log. Never waits, never throws; what it took is durable within 100 ms. */
export interface CallLedger {
  record(call: GatewayCall): void
  /** Everything taken so far is durable and can be listed. */
  flush(): Promise<void>
}
