import type { Json, JsonObject } from '#storage/index.ts'
import type { TypedKind } from '../records/schema.ts'
import { derivedId, isObject } from '../runtime/index.ts'
import type { Ledger } from '../runtime/internal.ts'

export type ToolCallData = {
  readonly tool: string
  readonly actor: string
  readonly took_ms: number
  /** Error code; null when the tool succeeded. */
  readonly code: string | null
}

/** Calls of tools that the server ran, one row each. Rows expire after a week. */
export const toolCallRows: TypedKind<ToolCallData> = { name: 'tool_calls', exported: null }

/** Prefix of the ids of tool calls. */
export const toolCallPrefix = 'tcl'

/** How long tool calls are kept, in ms: 7 days. */
const retentionMs = 7 * 24 * 60 * 60 * 1000

/** A call as the effect that ran the tool reports it in its result (src/actors/sessions/tools/run-tool.ts). */
export interface RanTool {
  readonly tool: string
  readonly tookMs: number
  /** Null when it succeeded. */
  readonly error: { readonly code: string; readonly message: string } | null
}

/** Returns the tool call that an event is the result of; null for other events. */
export const ranTool = ({ ran }: JsonObject): RanTool | null => {
  if (!isObject(ran) || typeof ran.tool !== 'string') return null
  const { tool, took_ms, code, message } = ran
  const error = typeof code === 'string' ? { code, message: textOf(message) } : null
  return { tool, tookMs: Number(took_ms ?? 0), error }
}

/** Returns one row for each commit with the result of a tool. */
export const toolCallLedger: Ledger = ({ actor, seq, at, project, tenant, event }, { user }) => {
  const ran = ranTool(event)
  if (ran === null) return []
  const data: ToolCallData = { tool: ran.tool, actor, took_ms: ran.tookMs, code: ran.error?.code ?? null }
  const times = { version: 1, created_at: at, updated_at: at, expires_at: at + retentionMs }
  const id = derivedId(toolCallPrefix, at, `${actor}:${seq}`)
  return [{ kind: toolCallRows, record: { id, project, tenant, user, ...times, data } }]
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
