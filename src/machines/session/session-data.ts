import type { ToolKind } from '../approval.ts'
import type { AuditLine, Json, JsonObject, StoredEvent } from '../index.ts'

/** Tokens and cost of a turn. `cost_usd` is an exact decimal; null once a price was unknown. */
export type TurnUsage = {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
  readonly cost_usd: string | null
}

/** No tokens, no cost. */
export const noUsage: TurnUsage = { input_tokens: 0, output_tokens: 0, total_tokens: 0, cost_usd: '0' }

/** The properties of a turn's tool that the machine depends on. */
export type SessionTool = {
  readonly kind: ToolKind
  readonly gated: boolean
  readonly risk_level: 'low' | 'medium' | 'high' | 'critical'
  readonly policy: 'idempotent' | 'at_most_once'
  readonly expires_in_ms: number
  /** Set where the end user may decide about its calls; absent: only the operator. */
  readonly approver?: 'end_user'
  /** Set for a `function` tool that a browser's credential declared in this turn. */
  readonly declared_by?: 'page'
}

/** A tool call as the model requested it. `arguments` is an object, or the raw text when it was not one. */
export type RequestedCall = {
  readonly action_id: string
  readonly tool: string
  readonly arguments: Json
  /** Opaque data that the provider requires back with the call (a signature, its reasoning). */
  readonly opaque?: string
}

/**
 * A tool call of the current answer.
 * `pending` waits for a person, `running` is run by the server, `deferred` waits for the caller's next turn, `resolved`
 * has its output.
 */
export type OpenCall = {
  readonly action_id: string
  readonly tool: string
  /** JSON text, so that a large value can be moved from the snapshot to a single blob. */
  readonly arguments: string
  readonly kind: ToolKind
  readonly status: 'pending' | 'running' | 'deferred' | 'resolved'
  /** The connection that it waits for; null or absent for none. */
  readonly connection?: JsonObject | null
  /** The input that its server requests from a person (`ShownInput`); null or absent for none. */
  readonly input?: JsonObject | null
  /** Set when its action runs the tool although no approval was required. */
  readonly actioned?: true
}

/** An output for a call that the caller ran. */
type ToolResult = { readonly action_id: string; readonly output: string }

/** Fields that the creator of a session sets. A fork takes them over from its origin. */
type GivenFields = {
  readonly metadata: JsonObject
}

/** Names of the fields that the creator of a session sets, in the API and in the context. */
export const givenFields = ['metadata'] as const satisfies readonly (keyof GivenFields)[]

/**
 * Fields of a session in its list row and in the API, and the fields of the context that they show: absent ones are
 * null in the API.
 */
export const sessionFields = {
  turn_count: 'turn',
  agent_id: 'agent_id',
  installation_id: 'installation_id',
  metadata: 'metadata',
  forked_from: 'forked_from',
  /** Exact decimal number as text, in USD. */
  total_cost: 'total_cost',
} as const satisfies Readonly<Record<string, keyof SessionContext>>

/** A session's durable context. Messages are events of its log, not context. */
export type SessionContext = GivenFields & {
  readonly session_id: string
  readonly agent_id: string | null
  /** The tenant's installation of the agent; absent when the agent runs without one. */
  readonly installation_id?: string
  /** The origin of its history; absent unless the session is a fork. */
  readonly forked_from?: ForkedFrom
  readonly turn: number
  /** Model calls made in this turn. */
  readonly steps: number
  /** How often the model call in progress was begun again after a crash; absent for never. */
  readonly restarts?: number | undefined
  readonly model: string
  /** Other parameters of model calls, inline or as a blob reference (src/actors/sessions/turns/turn-config.ts). */
  readonly config: JsonObject
  readonly tools: Readonly<Record<string, SessionTool>>
  readonly calls: readonly OpenCall[]
  readonly usage: TurnUsage
  readonly total_cost: string
}

/** The session and turn from which a session was forked. */
export type ForkedFrom = { readonly session_id: string; readonly turn_number: number }

/** An event that a fork copies. */
export type CopiedEvent = {
  readonly event_type: string
  readonly turn_number?: number
  readonly payload: JsonObject
  readonly hidden?: JsonObject
}

/** Data from which a fork starts. */
type Fork = {
  readonly from: ForkedFrom
  /** `session.forked`, followed by the events of the history. */
  readonly history: readonly CopiedEvent[]
  readonly by: AuditLine['by']
  readonly reason?: string
}

/** Input of a new session. */
export type SessionInput = Pick<SessionContext, 'session_id' | 'agent_id' | 'installation_id' | keyof GivenFields> & {
  /** Absent unless the session is a fork. */
  readonly fork?: Fork
}

/** The memory part of an answer: the message that writes it, and the block shown in the log. */
export type AnswerMemory = {
  /** Committed with the answer; null where nothing is written. */
  readonly message: { readonly to: string; readonly event: StoredEvent } | null
  readonly block: JsonObject
}

/** What a guardrail found in the texts of a model call, without the text itself. */
type Finding = {
  readonly guardrail: string
  readonly check: string
  readonly stage: 'input' | 'tool_output' | 'output'
  readonly outcome: 'flagged' | 'redacted' | 'blocked' | 'failed'
  readonly found: number
}

/** The result of a model call of a turn or a run. */
export type ModelEvent =
  | {
      readonly type: 'model_answered'
      /** Text since the last `model_delta`; in a run, which journals no deltas, the whole text. */
      readonly delta: string
      readonly cuts?: readonly number[]
      readonly calls: readonly RequestedCall[]
      readonly usage: TurnUsage
      /** Only in the final answer of a turn or run that uses memory. */
      readonly memory?: AnswerMemory
      /**
       * Pages that the answer cites, by their offsets in the text of the turn or in the run's output; only in the final
       * answer.
       */
      readonly annotations?: readonly JsonObject[]
      /** What guardrails found; absent for nothing. */
      readonly found?: readonly Finding[]
    }
  | {
      readonly type: 'model_failed'
      readonly delta: string
      readonly cuts?: readonly number[]
      readonly code: string
      readonly message: string
      readonly found?: readonly Finding[]
    }

/** A range of messages that is removed from a conversation: `from` inclusive, `to` exclusive. */
export type Cut = readonly [from: number, to: number]

/** The conversation did not fit into the model's context window; `cuts` are removed from it. */
export type CompactedEvent = {
  readonly type: 'context_compacted'
  readonly strategy: 'truncate' | 'summarize'
  readonly cuts: readonly Cut[]
  /** Text that replaces what was removed; null for none. */
  readonly summary: string | null
  readonly removed_messages: number
  /** Estimated. */
  readonly tokens_before: number
  readonly tokens_after: number
  /** Usage of the call that wrote the summary. */
  readonly usage: TurnUsage
}

/** A call that will not run. `reason` is why its action ended, `note` is a person's comment on it. */
export type RejectedEvent = {
  readonly type: 'action_rejected'
  readonly action_id: string
  readonly reason: string
  readonly note?: string
}

/** A person's response to input that a server requests: give it, refuse it, or dismiss the request. */
export type InputAction = 'accept' | 'decline' | 'cancel'

/** The outcome of a call that a model requested. */
export type CallEvent =
  | { readonly type: 'tool_answered'; readonly action_id: string; readonly output: string }
  | {
      readonly type: 'action_approved'
      readonly action_id: string
      readonly output?: string
      /** JSON text of edited arguments, which the tool gets instead. */
      readonly arguments?: string
      /** Set when no person approved, but the connection that the call waited for became available. */
      readonly connected?: true
      /** A person's response to the input that the call's server requested. */
      readonly answered?: InputAction
    }
  /**
   * The tool requires a connection first (`connections.reconnect`). Its action waits for it; the action exists already
   * if `by` is `action`.
   */
  | {
      readonly type: 'connection_required'
      readonly action_id: string
      readonly connection: JsonObject
      readonly by: 'tool' | 'action'
    }
  /**
   * The tool's server requests input from a person (`RequiredInput`). Its action waits for it; the action exists
   * already if `by` is `action`.
   */
  | {
      readonly type: 'input_required'
      readonly action_id: string
      readonly input: JsonObject
      readonly by: 'tool' | 'action'
    }
  | { readonly type: 'action_executed'; readonly action_id: string; readonly output: string }
  | RejectedEvent

/** Progress of a tool call, as reported by the tool's server. */
export type ToolProgress = {
  readonly progress: number
  /** Value of `progress` at completion; null if the server does not report it. */
  readonly total: number | null
  /** Message from the server. Not verified. */
  readonly message: string | null
}

/** Progress report from the server of a running tool. */
export type ProgressEvent = ToolProgress & { readonly type: 'tool_progressed'; readonly action_id: string }

/** All events of a session. `xstate.init` is its start. */
export type SessionEvent =
  | { readonly type: 'xstate.init'; readonly input: SessionInput }
  | {
      readonly type: 'turn'
      readonly input: string
      /** The input with its images, by reference; absent for text alone. */
      readonly parts?: readonly JsonObject[]
      readonly tool_results: readonly ToolResult[]
      readonly model: string
      readonly config: JsonObject
      readonly tools: Readonly<Record<string, SessionTool>>
      /** Number of the latest turn, which failed and whose model call is made again. */
      readonly retry_of?: number
    }
  | { readonly type: 'model_delta'; readonly delta: string; readonly cuts?: readonly number[] }
  | { readonly type: 'model_reasoned'; readonly delta: string }
  /** The model call is begun again; `kept` is the text of the turn's earlier answers. */
  | { readonly type: 'model_restarted'; readonly from_sequence: number; readonly kept: string }
  | CompactedEvent
  | ModelEvent
  | CallEvent
  | ProgressEvent
  /** With `by`, the cancellation is written to the audit log. */
  | { readonly type: 'cancel'; readonly by?: AuditLine['by']; readonly reason?: string }
  | { readonly type: 'delete' }
