import type { Frame } from '../quickstart/sse-lines.ts'

/** One requested turn, and what its client received. */
export interface RequestedTurn {
  /** Unique text in its input; a correct answer repeats it. */
  readonly token: string
  /** Whether the service has acknowledged the turn with a frame or an answer. */
  acknowledged: boolean
  /**
   * Expected output of the completed turn: this text, or any text with the token. Null for a rejected turn, which may
   * complete with any output.
   */
  readonly output: string | 'token' | null
}

/** One row of a session's log, as the API returns it. */
export interface LogRow {
  readonly sequence: number
  readonly event_type: string
  readonly turn_number: number | null
  readonly payload: Frame['data']
}

/** Evidence about one session. */
export interface SessionEvidence {
  readonly id: string
  readonly turns: readonly RequestedTurn[]
  /** Frames that its client received, across all reconnects, in order of arrival. */
  readonly frames: readonly Frame[]
  /** Frames that a passive reader received; empty without one. */
  readonly watched: readonly Frame[]
  /** Whether a passive reader followed it to the end. */
  readonly watching: boolean
  /** Its log at the end of the run; null when it could not be read. */
  readonly log: readonly LogRow[] | null
  /** Its turn count and status at the end of the run; null when they could not be read. */
  readonly session: { readonly status: string; readonly turn_count: number } | null
  /** The same, from its row in the list. */
  readonly listed: { readonly status: string; readonly turn_count: number } | null
}

/** How an approved tool runs: by the caller, or by the server under one of its policies. */
export type ToolRuns = 'caller' | 'idempotent' | 'at_most_once'

/** One tool call of a turn, with or without a required decision. */
export interface GatedCall {
  readonly actionId: string
  readonly runs: ToolRuns
  readonly decision: 'approve' | 'reject'
  /** Whether the service has acknowledged the decision. */
  readonly acknowledged: boolean
  /** The action at the end of the run; null when it could not be read. */
  readonly action: ActionView | null
}

/** A standalone action, outside any session. */
export interface PlainAction {
  readonly id: string
  /** null: it was left pending. */
  readonly decision: 'approve' | 'reject' | null
  readonly acknowledged: boolean
  readonly action: ActionView | null
}

/** Fields of an action that are checked. */
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

/** Usage at the end of the run, as the API returns it. */
export interface UsageEvidence {
  /** Usage rows of answers, by session. */
  readonly rows: Readonly<Record<string, number>>
  /** Number of usage rows of calls that a crash cut. */
  readonly interrupted: number
  /** Number of model calls on all lines of the invoice. */
  readonly invoiced: number
}

/** All evidence of a run. */
export interface Evidence {
  readonly usage: UsageEvidence
  readonly sessions: readonly SessionEvidence[]
  readonly gated: readonly GatedCall[]
  readonly plain: readonly PlainAction[]
  readonly toolCalls: readonly ToolCall[]
}
