import type { JsonObject } from '#specs/dsl/json.ts'
import type { ApprovalRule } from '../approval.ts'
import type { AuditLine } from '../index.ts'
import type {
  CallEvent,
  CompactedEvent,
  ModelEvent,
  OpenCall,
  ProgressEvent,
  SessionTool,
  TurnUsage,
} from '../session/session-data.ts'

/** A tool of a run. A call of a denied tool gets an error as its output and never runs. */
export type RunTool = SessionTool & {
  readonly denied: boolean
  /** The agent that a tool of kind `agent` delegates to; null for other kinds. */
  readonly subagent: SubagentOfRun | null
}

/** An agent that the run may delegate to. `version` null: the agent's current config. */
type SubagentOfRun = { readonly agent_id: string; readonly version: string | null }

/** A tool call or delegation of the current answer, or a delegation by a caller. */
export type RunCall = OpenCall & {
  /** Id of the child run; null for tools, and for a delegation that is still being prepared. */
  readonly child: string | null
  /** Who requested it: the model, which waits for the output of its call, or a caller of the API. */
  readonly asked: 'model' | 'caller'
}

/** Limits of a run. Exceeding one fails the run with a specific error code. */
export type RunLimits = {
  readonly max_steps: number
  /** Input and output tokens of all model calls; null for no limit. */
  readonly max_tokens: number | null
  /** USD as exact decimal text; null for no limit. */
  readonly max_cost_usd: string | null
  /** From the first start on, including waiting times. */
  readonly max_duration_ms: number
}

/** Why a run failed; `code` is one of specs/errors/errors.ts. */
export type RunError = { readonly code: string; readonly message: string }

/** The parent of a child run, and the call that it works on. */
export type RunParent = { readonly run_id: string; readonly action_id: string }

/** Input of a new run: everything that it takes from its agent, which stays fixed from then on. */
export type RunInput = {
  readonly run_id: string
  readonly agent_id: string
  readonly agent_version_id: string | null
  readonly version: string | null
  readonly installation_id: string | null
  readonly parent: RunParent | null
  /** Id of the run that this one replays; absent for none. */
  readonly replay_of?: string
  /** Conversation in JSON with which the run begins, up to a step of the run that it replays; absent: its task alone. */
  readonly history?: string
  /** The caller's reason for the request. */
  readonly reason?: string
  /** The caller (src/actors/records/audit-note.ts, `actorOf`); null when a model delegated. */
  readonly created_by: AuditLine['by'] | null
  /** Level of delegation: 0 for a run without a parent, 1 for its children. */
  readonly depth: number
  /** JSON text of the request's `input`, so that a large value can be moved from the snapshot to a single blob. */
  readonly input: string
  readonly model: string
  readonly config: JsonObject
  readonly tools: Readonly<Record<string, RunTool>>
  readonly limits: RunLimits
  /** Approval policy; it also applies to children without an installation of their own. */
  readonly policy: ApprovalRule | null
  readonly rate_plan_id: string | null
  readonly expires_in_ms: number
  /** The actor that grants slots, and the lane in which this run waits (src/actors/runs/lanes.ts). */
  readonly queue_id: string
  readonly lane: string
}

/** A run's durable context. Messages are in its log, not in the context. */
export type RunContext = RunInput & {
  /** Whether the run holds a slot of its queue. */
  readonly slot: boolean
  readonly started: boolean
  /** Number of model calls made. */
  readonly steps: number
  readonly calls: readonly RunCall[]
  /** Results of delegations by callers that no model call has included yet. */
  readonly told: readonly string[]
  readonly usage: TurnUsage
  readonly output: string | null
  /** Pages that the output cites, by their offsets in it; absent for none. */
  readonly annotations?: readonly JsonObject[]
  readonly error: RunError | null
}

/** Fields of a run in its list row and in the API, and the fields of the context that they show. */
export const runFields = {
  agent_id: 'agent_id',
  agent_version_id: 'agent_version_id',
  version: 'version',
  installation_id: 'installation_id',
  replay_of: 'replay_of',
  usage: 'usage',
  error: 'error',
} as const satisfies Readonly<Record<string, keyof RunContext>>

/** The ways in which a run can end. */
export type RunEnd = 'completed' | 'failed' | 'cancelled' | 'expired'

/** A delegation requested by a caller of the API; `child` is the whole input of the child run. */
type Delegation = { readonly type: 'delegate'; readonly child: RunInput }

/** All events of a run. */
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
  /** `by`: the caller; absent when the run is cancelled with its parent. */
  | { readonly type: 'cancel'; readonly by?: AuditLine['by']; readonly reason?: string }
  | { readonly type: 'expire' }
  | { readonly type: 'delete' }
