import type { Json } from '#storage/ports.ts'
import type { ToolDeclaration } from '../turns/turn-config.ts'

/** One call of a tool that the server runs. */
export interface ToolCall {
  readonly project: string
  readonly tool: ToolDeclaration
  readonly arguments: Json
  readonly actionId: string
  readonly sessionId: string | null
  readonly runId: string | null
  /** The effect's id: the same on every retry. */
  readonly idempotencyKey: string
  readonly signal: AbortSignal
}

/** What a tool answered, or why it did not: failures of the world are results, not throws. */
export type ToolOutcome =
  | { readonly ok: true; readonly output: string }
  | { readonly ok: false; readonly code: string; readonly message: string }

/** Runs tools of every kind that the server runs. */
export interface ToolRunner {
  run(call: ToolCall): Promise<ToolOutcome>
}
