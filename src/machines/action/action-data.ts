import type { Json, JsonObject } from '#specs/dsl/json.ts'
import type { ToolKind } from '../approval.ts'
import type { AuditLine } from '../index.ts'
import type { InputAction, ToolProgress } from '../session/session-data.ts'

/**
 * Who runs the tool after approval. `caller`: a standalone action, which the caller carries out; `agent`: its run
 * delegates.
 */
export type ActionKind = Exclude<ToolKind, 'unknown'> | 'caller'

/** An action's durable context. */
export type ActionContext = {
  readonly action_id: string
  /** The actor that waits for the outcome; null for a standalone action. */
  readonly owner: string | null
  readonly session_id: string | null
  readonly run_id: string | null
  readonly kind: ActionKind
  readonly tool: string
  /** JSON text of the arguments that the tool gets. */
  readonly arguments: string
  /** JSON text of the original arguments, if the approval edited them; else null. */
  readonly proposed_arguments: string | null
  readonly risk_level: string
  readonly policy: 'idempotent' | 'at_most_once'
  readonly expires_in_ms: number
  /** Reference to the config that declares a server-run tool (src/actors/sessions/turns/turn-config.ts). */
  readonly config: Json
  /** JSON text of the request that the server makes after approval of a standalone action; null for none. */
  readonly execute: string | null
  /** The connection that it waits for, or last waited for (`RequiredConnection`); null for none. */
  readonly connection: JsonObject | null
  /** The input that its server requests, or last requested (`RequiredInput`); null for none. */
  readonly input: JsonObject | null
  /** JSON text of a person's answer to that request (`InputAnswer`); null while there is none. */
  readonly answer: string | null
  readonly resolved_by: string | null
  /** Time of the decision, RFC 3339; null while it is open, and when it expired. */
  readonly resolved_at: string | null
  readonly note: string | null
  readonly output: string | null
  readonly error: ActionError | null
}

/** Fields of an action that the API shows as they are in the context, which is its list row too. */
export const actionFields = {
  tool: 'tool',
  run_id: 'run_id',
  session_id: 'session_id',
  error: 'error',
  note: 'note',
  resolved_by: 'resolved_by',
  resolved_at: 'resolved_at',
} as const satisfies Readonly<Record<string, keyof ActionContext>>

/** Why a tool gave no output. */
export type ActionError = { readonly code: string; readonly message: string }

/** Input of a new action. */
export type ActionInput = Omit<
  ActionContext,
  | 'proposed_arguments'
  | 'execute'
  | 'connection'
  | 'input'
  | 'answer'
  | 'resolved_by'
  | 'resolved_at'
  | 'note'
  | 'output'
  | 'error'
> & {
  readonly execute?: string | null
  readonly connection?: JsonObject | null
  readonly input?: JsonObject | null
}

/** A person's answer to a request for input; `content` are the values of a form. */
export type InputAnswer = { readonly action: InputAction; readonly content?: JsonObject }

/** The input request of the action to which an answer belongs, by number. */
export type OfRound = { readonly round?: number }

/** Who decided, and when. */
export type Decision = {
  /** Id of the decider, as the action shows it. */
  readonly by: string
  /** RFC 3339. */
  readonly at: string
  /** The same for the audit log: an end user is a hash, and the time is in ms since the epoch. */
  readonly audit: { readonly by: AuditLine['by']; readonly at: number }
}

/** All events of an action. */
export type ActionEvent =
  | (Decision &
      OfRound & {
        readonly type: 'approve'
        readonly note?: string
        readonly output?: string
        /** JSON text of edited arguments, which the tool gets instead of the proposed ones. */
        readonly arguments?: string
        /** JSON text of the values for a form. */
        readonly content?: string
      })
  /** `response`: what the server that requests input is sent; by default that the input was declined. */
  | (Decision & OfRound & { readonly type: 'reject'; readonly reason?: string; readonly response?: 'cancel' })
  /** The outcome of an action that the caller carried out itself. */
  | (Decision & { readonly type: 'complete'; readonly output: string })
  | (Decision & { readonly type: 'complete'; readonly error: ActionError })
  | { readonly type: 'cancel' }
  | { readonly type: 'delete' }
  | { readonly type: 'tool_succeeded'; readonly output: string }
  | { readonly type: 'tool_failed'; readonly code: string; readonly message: string }
  /** The tool was not called, because it requires this connection first. */
  | { readonly type: 'connection_required'; readonly connection: JsonObject }
  /** The server of the tool requests this input first (`RequiredInput`). */
  | { readonly type: 'input_required'; readonly input: JsonObject }
  /** Progress report of the tool's server. */
  | (ToolProgress & { readonly type: 'tool_progressed' })
  /** The connection is usable, or never will be; without `error` it was revoked. */
  | { readonly type: 'connected' }
  | { readonly type: 'connection_ended'; readonly error?: ActionError }
