import type { JsonObject } from '#specs/dsl/json.ts'
import type { ApprovalRule } from '../approval.ts'
import type {
  CallEvent,
  CompactedEvent,
  ModelEvent,
  OpenCall,
  ProgressEvent,
  SessionTool,
  TurnUsage,
} from '../session/session-data.ts'
import type { AuditLine } from '../vocabulary.ts'

/** A tool of a run. Calls of a denied one are answered with an error and never run. */
export type RunTool = SessionTool & {
  readonly denied: boolean
  /** What a tool of kind `agent` delegates to; null for every other. */
  readonly subagent: SubagentOfRun | null
}

/** An agent that the run may delegate to. `version` null: the one that runs at that time. */
export type SubagentOfRun = { readonly agent_id: string; readonly version: string | null }

/** A tool call or delegation that is open. */
export type RunCall = OpenCall & {
  /** The child run that works on it; null for tools, and for a delegation that is being prepared. */
  readonly child: string | null
  /** Who requested it: the model, which waits for the output of its call, or a caller of the API. */
  readonly asked: 'model' | 'caller'
}

/** How far a run may go; each bound ends it as failed with a code of its own. */
export type RunLimits = {
  readonly max_steps: number
  /** Input and output tokens of all model calls; null for no bound. */
  readonly max_tokens: number | null
  /** USD as exact decimal text; null for no bound. */
  readonly max_cost_usd: string | null
  /** From the first start on, waiting included. */
  readonly max_duration_ms: number
}

/** Why a run failed; `code` is one of specs/errors/errors.ts. */
export type RunError = { readonly code: string; readonly message: string }

/** A run that delegates, as its child knows it. */
export type RunParent = { readonly run_id: string; readonly action_id: string }

/** What starts a run: everything that it takes from its agent, fixed from then on. */
export type RunInput = {
  readonly run_id: string
  readonly agent_id: string
  readonly agent_version_id: string | null
  readonly version: string | null
  readonly installation_id: string | null
  readonly parent: RunParent | null
  /** The run that it repeats; absent for none. */
  readonly replay_of?: string
  /** Why it was requested. */
  readonly reason?: string
  /** Who requested it (src/actors/records/audit-note.ts, `actorOf`); null when a model delegated. */
  readonly created_by: AuditLine['by'] | null
  /** 0 for a run of its own, 1 for its children. */
  readonly depth: number
  /** JSON text of the request's `input`, so that a large one leaves the snapshot as one blob. */
  readonly input: string
  readonly model: string
  readonly config: JsonObject
  readonly tools: Readonly<Record<string, RunTool>>
  readonly limits: RunLimits
  /** What children without an installation of their own are held to as well. */
  readonly policy: ApprovalRule | null
  readonly rate_plan_id: string | null
  readonly expires_in_ms: number
  /** The actor that gives slots, and whose turn this run waits for there (src/actors/runs/lanes.ts). */
  readonly queue_id: string
  readonly lane: string
}

/** A run's durable context. What was said is in its log, not here. */
export type RunContext = RunInput & {
  /** It may work: the queue counts it. */
  readonly slot: boolean
  readonly started: boolean
  /** Model calls made. */
  readonly steps: number
  readonly calls: readonly RunCall[]
  /** Results of delegations by callers that the model has not read yet. */
  readonly told: readonly string[]
  readonly usage: TurnUsage
  readonly output: string | null
  /** Pages that the output names, by their places in it; absent for none. */
  readonly annotations?: readonly JsonObject[]
  readonly error: RunError | null
}

/** How a run can end. */
export type RunEnd = 'completed' | 'failed' | 'cancelled' | 'expired'

/** A delegation as a caller of the API requests it; `child` is the whole input of the child run. */
export type Delegation = { readonly type: 'delegate'; readonly child: RunInput }

/** Everything that can happen to a run. */
export type RunEvent =
  | { readonly type: 'slot_granted' }
  | ModelEvent
  | CompactedEvent
  | CallEvent
  | ProgressEvent
  | { readonly type: 'child_prepared'; readonly action_id: string; readonly child: RunInput }
  | { readonly type: 'child_refused'; readonly action_id: string; readonly code: string; readonly message: string }
  | {
      readonly type: 'child_ended'
      readonly run_id: string
      readonly action_id: string
      readonly status: RunEnd
      readonly output: string | null
      readonly error: RunError | null
    }
  | Delegation
  /** `by`: who requested it; absent when it ends with its parent. */
  | { readonly type: 'cancel'; readonly by?: AuditLine['by']; readonly reason?: string }
  | { readonly type: 'expire' }
  | { readonly type: 'delete' }
