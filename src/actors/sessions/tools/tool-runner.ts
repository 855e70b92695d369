import type { AnsweredInput, ReportProgress, ToolOutcome } from '#actors/capability/agent-resources.ts'
import type { Json } from '#storage/ports.ts'
import type { TurnTool } from '../turns/turn-config.ts'

/** One call of a tool that the server runs. */
export interface ToolCall {
  readonly project: string
  readonly tenant: string | null
  /** External id of the end user whose session or run it is. */
  readonly user: string | null
  readonly tool: TurnTool
  readonly arguments: Json
  readonly actionId: string
  /** Present when the call goes on after an answer to what its server requested. */
  readonly input?: AnsweredInput
  readonly sessionId: string | null
  readonly runId: string | null
  /** The effect's id: the same on every retry. */
  readonly idempotencyKey: string
  readonly signal: AbortSignal
  /** Journals how far the call is. */
  readonly progress?: ReportProgress
}

/** Runs tools of every kind that the server runs. */
export interface ToolRunner {
  run(call: ToolCall): Promise<ToolOutcome>
  /** No answer will come to what the server of this action's tool requested. */
  release?(actionId: string): void
}
