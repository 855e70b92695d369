import type { Frame } from '../quickstart/sse-lines.ts'

/** One turn that a client requested, and what it received of it. */
export interface RequestedTurn {
  /** Stands in its input and in no other's; a good answer repeats it. */
  readonly token: string
  /** Whether the client knows that the service has it: a frame or an answer of it came. */
  acknowledged: boolean
  /**
   * What its output is when it completes: this text, or one with the token in it. Null for one that is rejected, which
   * may complete with anything.
   */
  readonly output: string | 'token' | null
}

/** One row of a session's log, as the interface shows it. */
export interface LogRow {
  readonly sequence: number
  readonly event_type: string
  readonly turn_number: number | null
  readonly payload: Frame['data']
}

/** Everything known about one session. */
export interface SessionEvidence {
  readonly id: string
  readonly turns: readonly RequestedTurn[]
  /** What its client saw, over all reconnects, in the order it was seen. */
  readonly frames: readonly Frame[]
  /** What a reader saw who only watched it; empty when none did. */
  readonly watched: readonly Frame[]
  /** Whether a reader watched it to the end. */
  readonly watching: boolean
  /** Its log after everything; null when it could not be read. */
  readonly log: readonly LogRow[] | null
  /** Its turn count and status, read after everything; null when it could not be read. */
  readonly session: { readonly status: string; readonly turn_count: number } | null
  /** The same by its row in the list. */
  readonly listed: { readonly status: string; readonly turn_count: number } | null
}

/** How an approved tool runs: by the caller, or by the server under one of its policies. */
export type ToolRuns = 'caller' | 'idempotent' | 'at_most_once'

/** One tool call of a turn that waited for a person, or ran without one. */
export interface GatedCall {
  readonly actionId: string
  readonly runs: ToolRuns
  readonly decision: 'approve' | 'reject'
  /** Whether the client knows that its decision was taken. */
  readonly acknowledged: boolean
  /** The action after everything; null when it could not be read. */
  readonly action: ActionView | null
}

/** An action that belongs to no session. */
export interface PlainAction {
  readonly id: string
  /** null: it was left pending. */
  readonly decision: 'approve' | 'reject' | null
  readonly acknowledged: boolean
  readonly action: ActionView | null
}

/** What reading an action shows. */
export interface ActionView {
  readonly status: string
  readonly error: { readonly code: string } | null
}

/** One call that reached the tool server. */
export interface ToolCall {
  /** Its Idempotency-Key. */
  readonly key: string
  readonly actionId: string
}

/** What was used, as the interface shows it after everything. */
export interface UsageEvidence {
  /** Usage rows by session. */
  readonly rows: Readonly<Record<string, number>>
  /** Model calls of all lines of the invoice. */
  readonly invoiced: number
}

/** What a run leaves to be judged. */
export interface Evidence {
  readonly usage: UsageEvidence
  readonly sessions: readonly SessionEvidence[]
  readonly gated: readonly GatedCall[]
  readonly plain: readonly PlainAction[]
  readonly toolCalls: readonly ToolCall[]
}
