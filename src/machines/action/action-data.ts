import type { Json, JsonObject } from '#specs/dsl/json.ts'
import type { ToolKind } from '../approval.ts'
import type { InputAction, ToolProgress } from '../session/session-data.ts'
import type { AuditLine } from '../vocabulary.ts'

/** Who runs the tool once approved; `caller`: an action of its own, which the caller acts on; `agent`: its run delegates. */
export type ActionKind = Exclude<ToolKind, 'unknown'> | 'caller'

/** An action's durable context. */
export type ActionContext = {
  readonly action_id: string
  /** The actor that waits for the outcome; null for an action of its own. */
  readonly owner: string | null
  readonly session_id: string | null
  readonly run_id: string | null
  readonly kind: ActionKind
  readonly tool: string
  /** JSON text: what the tool gets. */
  readonly arguments: string
  /** JSON text: what `arguments` were before the approval edited them; null where it did not. */
  readonly proposed_arguments: string | null
  readonly risk_level: string
  readonly policy: 'idempotent' | 'at_most_once'
  readonly expires_in_ms: number
  /** Where a server-run tool's definition stands (src/actors/sessions/turns/turn-config.ts). */
  readonly config: Json
  /** JSON text of the request that an action of its own makes once approved; null where it makes none. */
  readonly execute: string | null
  /** What it waits for, or waited for last (`RequiredConnection`); null for nothing. */
  readonly connection: JsonObject | null
  /** The input that its server requests, or requested last (`RequiredInput`); null for none. */
  readonly input: JsonObject | null
  /** JSON text of what a person answered to it (`InputAnswer`); null while there is none. */
  readonly answer: string | null
  readonly resolved_by: string | null
  /** When it was decided, RFC 3339; null while it is open, or when it was not decided in time. */
  readonly resolved_at: string | null
  readonly note: string | null
  readonly output: string | null
  readonly error: ActionError | null
}

/** Why a tool gave no output. */
export type ActionError = { readonly code: string; readonly message: string }

/** What starts an action. */
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

/** What a person did with a request for input; `content` are the values of a form. */
export type InputAnswer = { readonly action: InputAction; readonly content?: JsonObject }

/** Says which request for input of the action it is for. */
export type OfRound = { readonly round?: number }

/** Who decided, and when. */
export type Decision = {
  /** As the action shows who decided. */
  readonly by: string
  /** RFC 3339. */
  readonly at: string
  /** The same as the audit log says it: an end user is a hash, the time in ms since the epoch. */
  readonly audit: { readonly by: AuditLine['by']; readonly at: number }
}

/** Everything that can happen to an action. */
export type ActionEvent =
  | (Decision &
      OfRound & {
        readonly type: 'approve'
        readonly note?: string
        readonly output?: string
        /** JSON text: the tool gets these instead of the ones that were proposed. */
        readonly arguments?: string
        /** JSON text of the values that a form requested. */
        readonly content?: string
      })
  /** `response`: what a server that requests input hears; without one that it is declined. */
  | (Decision & OfRound & { readonly type: 'reject'; readonly reason?: string; readonly response?: 'cancel' })
  /** The caller acted on an action of its own: what came of it. */
  | (Decision & { readonly type: 'complete'; readonly output: string })
  | (Decision & { readonly type: 'complete'; readonly error: ActionError })
  | { readonly type: 'cancel' }
  | { readonly type: 'delete' }
  | { readonly type: 'tool_succeeded'; readonly output: string }
  | { readonly type: 'tool_failed'; readonly code: string; readonly message: string }
  /** The tool was not called: it needs this connection first. */
  | { readonly type: 'connection_required'; readonly connection: JsonObject }
  /** The server of the tool requests this input first (`RequiredInput`). */
  | { readonly type: 'input_required'; readonly input: JsonObject }
  /** The server of the tool says how far it is. */
  | (ToolProgress & { readonly type: 'tool_progressed' })
  /** The connection is there, or never will be; without `error` it was revoked. */
  | { readonly type: 'connected' }
  | { readonly type: 'connection_ended'; readonly error?: ActionError }
