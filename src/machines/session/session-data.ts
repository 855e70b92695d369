import type { Json, JsonObject, StoredEvent } from '#specs/dsl/json.ts'
import type { ToolKind } from '../approval.ts'
import type { AuditLine } from '../vocabulary.ts'

/** Tokens and money of a turn. `cost_usd` is an exact decimal; null once a price was unknown. */
export type TurnUsage = {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
  readonly cost_usd: string | null
}

/** No tokens, no cost. */
export const noUsage: TurnUsage = { input_tokens: 0, output_tokens: 0, total_tokens: 0, cost_usd: '0' }

/** What the machine has to know of a tool of the turn. */
export type SessionTool = {
  readonly kind: ToolKind
  readonly gated: boolean
  readonly risk_level: 'low' | 'medium' | 'high' | 'critical'
  readonly policy: 'idempotent' | 'at_most_once'
  readonly expires_in_ms: number
}

/** A tool call as the model requested it. `arguments` is an object, or the raw text when it was not one. */
export type RequestedCall = {
  readonly action_id: string
  readonly tool: string
  readonly arguments: Json
  /** What the provider wants back with the call (a signature, its reasoning), unread by us. */
  readonly opaque?: string
}

/**
 * A tool call of the current answer.
 * `pending` waits for a person, `running` is being run by us, `deferred` waits for the caller's next turn, `resolved` has its output.
 */
export type OpenCall = {
  readonly action_id: string
  readonly tool: string
  /** JSON text, so that a large value can leave the snapshot as one blob. */
  readonly arguments: string
  readonly kind: ToolKind
  readonly status: 'pending' | 'running' | 'deferred' | 'resolved'
  /** The connection that it waits for; null or absent for none. */
  readonly connection?: JsonObject | null
  /** The input that its server requests of a person (`ShownInput`); null or absent for none. */
  readonly input?: JsonObject | null
  /** Its action runs the tool, though no approval was required. */
  readonly actioned?: true
}

/** An output for a call that the caller ran. */
export type ToolResult = { readonly action_id: string; readonly output: string }

/** A session's durable context. Messages are events of its log, not context. */
export type SessionContext = {
  readonly session_id: string
  readonly agent_id: string | null
  /** What the session's tenant has installed of the agent; absent when the agent runs by itself. */
  readonly installation_id?: string
  readonly metadata: JsonObject
  /** Where its history comes from; absent for a session that began by itself. */
  readonly forked_from?: ForkedFrom
  readonly turn: number
  /** Model calls made in this turn. */
  readonly steps: number
  readonly model: string
  /** Everything else that a model call needs, inline or as a blob reference (src/actors/sessions/turns/turn-config.ts). */
  readonly config: JsonObject
  readonly tools: Readonly<Record<string, SessionTool>>
  readonly calls: readonly OpenCall[]
  readonly usage: TurnUsage
  readonly total_cost: string
}

/** A turn of another session, up to which the history of a session is that one's. */
export type ForkedFrom = { readonly session_id: string; readonly turn_number: number }

/** An event that a fork takes over. */
export type CopiedEvent = {
  readonly event_type: string
  readonly turn_number?: number
  readonly payload: JsonObject
  readonly hidden?: JsonObject
}

/** What a fork starts with. */
export type Fork = {
  readonly from: ForkedFrom
  /** `session.forked`, then the events of the history. */
  readonly history: readonly CopiedEvent[]
  readonly by: AuditLine['by']
  readonly reason?: string
}

/** What starts a session. */
export type SessionInput = {
  readonly session_id: string
  readonly agent_id: string | null
  /** What the session's tenant has installed of the agent; absent when the agent runs by itself. */
  readonly installation_id?: string
  readonly metadata: JsonObject
  /** Absent for a session that begins by itself. */
  readonly fork?: Fork
}

/** What memory has to do with an answer: the message that writes it, and what the log says of it. */
export type AnswerMemory = {
  /** Goes with the answer's own commit; null where nothing is written. */
  readonly message: { readonly to: string; readonly event: StoredEvent } | null
  readonly block: JsonObject
}

/** How a model call of a turn or a run ended. */
export type ModelEvent =
  | {
      readonly type: 'model_answered'
      /** Text that arrived since the last `model_delta`; all of it in a run, which journals none. */
      readonly delta: string
      readonly calls: readonly RequestedCall[]
      readonly usage: TurnUsage
      /** Only in the last answer of a turn or run that uses memory. */
      readonly memory?: AnswerMemory
      /** Pages that the answer names, by their places in the text of the turn, or in the run's output; only in the last answer. */
      readonly annotations?: readonly JsonObject[]
    }
  | { readonly type: 'model_failed'; readonly delta: string; readonly code: string; readonly message: string }

/** Messages of a conversation that are left out: from the first number on, up to the second. */
export type Cut = readonly [from: number, to: number]

/** The conversation did not fit into the model's context window: what is left out of it from now on. */
export type CompactedEvent = {
  readonly type: 'context_compacted'
  readonly strategy: 'truncate' | 'summarize'
  readonly cuts: readonly Cut[]
  /** What a model reads in place of what was left out; null for nothing. */
  readonly summary: string | null
  readonly removed_messages: number
  /** Estimated. */
  readonly tokens_before: number
  readonly tokens_after: number
  /** Of the call that wrote the summary. */
  readonly usage: TurnUsage
}

/** A call that is not carried out: `reason` is what happened to its action, `note` what a person said to it. */
export type RejectedEvent = {
  readonly type: 'action_rejected'
  readonly action_id: string
  readonly reason: string
  readonly note?: string
}

/** What a person does with input that a server requests: gives it, refuses it, or dismisses the question. */
export type InputAction = 'accept' | 'decline' | 'cancel'

/** What becomes of the calls that a model requested. */
export type CallEvent =
  | { readonly type: 'tool_answered'; readonly action_id: string; readonly output: string }
  | {
      readonly type: 'action_approved'
      readonly action_id: string
      readonly output?: string
      /** JSON text: the approver edited the arguments, and the tool gets these. */
      readonly arguments?: string
      /** No person agreed: the connection that it waited for is there. */
      readonly connected?: true
      /** What a person did with the input that its server requested. */
      readonly answered?: InputAction
    }
  /** The tool needs a connection first (`connections.reconnect`); its action waits for it, and exists if `by` is the action. */
  | {
      readonly type: 'connection_required'
      readonly action_id: string
      readonly connection: JsonObject
      readonly by: 'tool' | 'action'
    }
  /** Its server requests input of a person (`RequiredInput`); its action waits for it, and exists if `by` is the action. */
  | {
      readonly type: 'input_required'
      readonly action_id: string
      readonly input: JsonObject
      readonly by: 'tool' | 'action'
    }
  | { readonly type: 'action_executed'; readonly action_id: string; readonly output: string }
  | RejectedEvent

/** How far a tool call is, as the server of the tool says. */
export type ToolProgress = {
  readonly progress: number
  /** Value of `progress` at completion; null if the server does not report it. */
  readonly total: number | null
  /** Message from the server. Not verified. */
  readonly message: string | null
}

/** The server of a tool that runs says how far it is. */
export type ProgressEvent = ToolProgress & { readonly type: 'tool_progressed'; readonly action_id: string }

/** Everything that can happen to a session. `xstate.init` is its start. */
export type SessionEvent =
  | { readonly type: 'xstate.init'; readonly input: SessionInput }
  | {
      readonly type: 'turn'
      readonly input: string
      readonly tool_results: readonly ToolResult[]
      readonly model: string
      readonly config: JsonObject
      readonly tools: Readonly<Record<string, SessionTool>>
    }
  | { readonly type: 'model_delta'; readonly delta: string }
  | CompactedEvent
  | ModelEvent
  | CallEvent
  | ProgressEvent
  /** `by`: it is written to the audit log. */
  | { readonly type: 'cancel'; readonly by?: AuditLine['by']; readonly reason?: string }
  | { readonly type: 'delete' }
