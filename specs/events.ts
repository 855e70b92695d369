import { array, integer, json, nullable, object, oneOf, optional, string } from './schema.ts'

/** Tokens and money of one turn. */
export const turnUsage = object(
  {
    input_tokens: integer(),
    output_tokens: integer(),
    total_tokens: integer(),
    /** Exact decimal in USD; null when a price is not known. */
    cost_usd: nullable(string()),
  },
  { title: 'TurnUsage', open: true },
)

/** Why a turn failed; `code` is one of the error codes. */
const turnError = object({ code: string(), message: string() }, { title: 'TurnError' })

const toolCall = { tool: string(), arguments: json(), action_id: string() }

/** Payloads of the session turn stream by event name, as they are stored (interface "Session turn stream"). */
export const sessionEvents = {
  'turn.started': object(
    { turn_number: integer(), model: string(), input_text: string() },
    { title: 'TurnStarted', open: true },
  ),
  'output_text.delta': object({ delta: string() }, { title: 'OutputTextDelta' }),
  'tool_call.started': object(toolCall, { title: 'ToolCallStarted' }),
  'tool_call.completed': object(
    { tool: string(), output: string(), action_id: string() },
    { title: 'ToolCallCompleted' },
  ),
  'turn.paused': object({ reason: oneOf('approval_required'), ...toolCall }, { title: 'TurnPaused' }),
  'turn.resumed': object(
    {
      action_id: string(),
      resolution: oneOf('approved', 'rejected'),
      reason: optional(string()),
      output: optional(string()),
    },
    { title: 'TurnResumed' },
  ),
  'turn.completed': object(
    {
      turn_number: integer(),
      output: string(),
      usage: turnUsage,
      tool_calls: optional(array(object(toolCall))),
    },
    { title: 'TurnCompleted' },
  ),
  'turn.failed': object(
    {
      turn_number: integer(),
      output: object({ text: string(), error: turnError }),
      error: turnError,
      usage: turnUsage,
    },
    { title: 'TurnFailed' },
  ),
} as const

/** What the stream calls an event that the log stores under another name (interface "Session turn stream"). */
export const streamNames: Readonly<Record<string, string>> = { 'output_text.delta': 'response.output_text.delta' }
