import { turnUsage } from './events.ts'
import { integer, json, jsonObject, nullable, object, oneOf, string } from './schema.ts'

const reference = () => nullable(string())
const runError = object({ code: string(), message: string() }, { title: 'RunError' })
const output = nullable(jsonObject())
const call = { tool: string(), action_id: string() }

/** Payloads of a run's log by event name (interface-additions "Streams"). */
export const runEvents = {
  'run.queued': object(
    {
      agent_id: string(),
      version: reference(),
      installation_id: reference(),
      parent_run_id: reference(),
      input: jsonObject(),
    },
    { title: 'RunQueued' },
  ),
  'run.started': object({}, { title: 'RunStarted' }),
  'run.model_call.started': object({ step: integer(), model: string() }, { title: 'RunModelCallStarted' }),
  'run.model_call.completed': object(
    { step: integer(), model: string(), text: string(), usage: turnUsage },
    { title: 'RunModelCallCompleted' },
  ),
  'run.tool_call.started': object({ ...call, arguments: json() }, { title: 'RunToolCallStarted' }),
  'run.tool_call.completed': object({ ...call, output: string() }, { title: 'RunToolCallCompleted' }),
  'run.requires_action': object(
    { reason: oneOf('approval_required', 'tool_output_required'), ...call, arguments: json() },
    { title: 'RunRequiresAction' },
  ),
  'run.action.approved': object(call, { title: 'RunActionApproved' }),
  'run.action.rejected': object(
    { ...call, reason: oneOf('rejected', 'expired', 'deleted') },
    { title: 'RunActionRejected' },
  ),
  'run.delegated': object(
    {
      child_run_id: string(),
      agent_id: string(),
      agent_version_id: reference(),
      /** The call of the model that asked for it; null when a caller of the API did. */
      action_id: reference(),
      input: jsonObject(),
    },
    { title: 'RunDelegated' },
  ),
  'run.child.completed': object(
    {
      child_run_id: string(),
      action_id: reference(),
      status: oneOf('completed', 'failed', 'cancelled', 'expired'),
      output,
      error: nullable(runError),
    },
    { title: 'RunChildCompleted' },
  ),
  'run.completed': object({ output, usage: turnUsage }, { title: 'RunCompleted' }),
  'run.failed': object({ error: runError, usage: turnUsage }, { title: 'RunFailed' }),
  'run.cancelled': object({ usage: turnUsage }, { title: 'RunCancelled' }),
  'run.expired': object({ usage: turnUsage }, { title: 'RunExpired' }),
} as const
