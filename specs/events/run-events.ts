import { described, integer, json, jsonObject, nullable, object, oneOf, optional, string } from '../dsl/schema.ts'
import {
  compactedFields,
  findingFields,
  progressFields,
  requiredConnection,
  requiredInput,
  turnUsage,
} from './events.ts'

const reference = () => nullable(string())
const runError = object({ code: string(), message: string() }, { title: 'RunError' })
// has a title: openapi-generator's Java client does not compile with an untitled one that only occurs in events
const output = nullable(described(jsonObject({ title: 'RunOutput' }), 'Output of a run.'))
const call = { tool: string(), action_id: string() }

/** Payloads of a run's log by event name (`runs.events`). */
export const runEvents = {
  'run.queued': object(
    {
      agent_id: string(),
      version: reference(),
      installation_id: reference(),
      parent_run_id: reference(),
      input: jsonObject(),
    },
    { title: 'RunQueued', description: 'The run waits for a free slot.' },
  ),
  'run.started': object({}, { title: 'RunStarted', description: 'The run started.' }),
  'run.model_call.started': object(
    { step: integer(), model: string() },
    { title: 'RunModelCallStarted', description: 'A model call started.' },
  ),
  'run.model_call.completed': object(
    { step: integer(), model: string(), text: string(), usage: turnUsage },
    { title: 'RunModelCallCompleted', description: 'A model call completed.' },
  ),
  'run.context.compacted': object(compactedFields, {
    title: 'RunContextCompacted',
    description:
      "The oldest part of the conversation was removed because it did not fit into the model's context window.",
  }),
  'run.guardrail.triggered': object(findingFields, {
    title: 'RunGuardrailTriggered',
    description:
      'A guardrail found something in the texts of a model call that were new. The text itself is not in the event.',
  }),
  'run.tool_call.started': object(
    { ...call, arguments: json() },
    { title: 'RunToolCallStarted', description: 'A tool call started.' },
  ),
  'run.tool_call.progress': object(
    { ...call, ...progressFields },
    {
      title: 'RunToolCallProgress',
      description: "Progress of a tool call, as reported by the tool's server. Sent at most once a second.",
    },
  ),
  'run.tool_call.completed': object(
    { ...call, output: string() },
    { title: 'RunToolCallCompleted', description: 'A tool call completed.' },
  ),
  'run.requires_action': object(
    {
      reason: oneOf('approval_required', 'tool_output_required', 'connection_required', 'input_required'),
      ...call,
      arguments: json(),
      connection: optional(requiredConnection),
      input: optional(requiredInput),
    },
    {
      title: 'RunRequiresAction',
      description:
        'The run is waiting for an approval, the output of a tool, a connection, or input that a server requests.',
    },
  ),
  'run.action.connected': object(call, {
    title: 'RunActionConnected',
    description: 'The connection that a tool call waited for is active.',
  }),
  'run.action.answered': object(
    { ...call, resolution: oneOf('answered', 'declined', 'dismissed') },
    { title: 'RunActionAnswered', description: "A person answered or declined input that a tool's server requested." },
  ),
  'run.action.approved': object(
    {
      ...call,
      arguments: described(optional(json()), 'Arguments that are sent to the tool, if the approver edited them.'),
    },
    { title: 'RunActionApproved', description: 'A tool call was approved.' },
  ),
  'run.action.rejected': object(
    { ...call, reason: oneOf('rejected', 'expired', 'deleted') },
    { title: 'RunActionRejected', description: 'A tool call was rejected or deleted, or its approval expired.' },
  ),
  'run.delegated': object(
    {
      child_run_id: string(),
      agent_id: string(),
      agent_version_id: reference(),
      action_id: described(reference(), 'Tool call that caused the delegation; null if it was `runs.delegate`.'),
      input: jsonObject(),
    },
    { title: 'RunDelegated', description: 'The run delegated work to a child run.' },
  ),
  'run.child.completed': object(
    {
      child_run_id: string(),
      action_id: reference(),
      status: oneOf('completed', 'failed', 'cancelled', 'expired'),
      output,
      error: nullable(runError),
    },
    { title: 'RunChildCompleted', description: 'A child run ended.' },
  ),
  'run.completed': object({ output, usage: turnUsage }, { title: 'RunCompleted', description: 'The run is complete.' }),
  'run.failed': object(
    { error: runError, usage: turnUsage },
    { title: 'RunFailed', description: 'The run ended with an error.' },
  ),
  'run.cancelled': object({ usage: turnUsage }, { title: 'RunCancelled', description: 'The run was cancelled.' }),
  'run.expired': object(
    { usage: turnUsage },
    { title: 'RunExpired', description: 'The run reached its `expires_at`.' },
  ),
} as const
