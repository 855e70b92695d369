import type { AnsweredInput, ReportProgress, ToolOutcome } from '#actors/capability/agent-resources.ts'
import type { Json } from '#storage/index.ts'
import type { TurnTool } from '../turns/turn-config.ts'

/** One call of a tool that the server runs. */
export interface ToolCall {
  readonly project: string
  readonly tenant: string | null
  /** External id of the end user of the session or run. */
  readonly user: string | null
  readonly tool: TurnTool
  readonly arguments: Json
  readonly actionId: string
  /** Present when the call resumes with an answer to an input request of its server. */
  readonly input?: AnsweredInput
  readonly sessionId: string | null
  readonly runId: string | null
  /** The effect's id: the same on every retry. */
  readonly idempotencyKey: string
  readonly signal: AbortSignal
  /** Journals the progress of the call. */
  readonly progress?: ReportProgress
}

/** Runs all kinds of tools that the server runs itself. */
export interface ToolRunner {
  run(call: ToolCall): Promise<ToolOutcome>
  /** Ends what waits elsewhere for an input answer to this action, which will not come. Never throws. */
  release?(action: { readonly actionId: string; readonly project: string }): Promise<void>
}
