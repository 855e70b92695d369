import {
  array,
  constant,
  described,
  integer,
  json,
  jsonObject,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
} from '../dsl/schema.ts'
import { memoryBlock } from '../memory-field.ts'
import { turnInput } from './turn-input.ts'

/** Tokens and cost of one turn. */
export const turnUsage = object(
  {
    input_tokens: integer({ description: 'Tokens of the input.' }),
    output_tokens: integer({ description: 'Tokens of the output.' }),
    total_tokens: integer({ description: 'Tokens of input and output.' }),
    cost_usd: nullable(string({ description: 'Cost in USD as an exact decimal; null if a price is unknown.' })),
  },
  { title: 'TurnUsage', description: 'Tokens and cost.', open: true },
)

/** Error that caused a turn to fail. */
export const turnError = object(
  {
    code: string({ description: 'One of the error codes.' }),
    message: string({ description: 'Message for developers.' }),
  },
  { title: 'TurnError', description: 'Error that caused a turn to fail.' },
)

const tool = string({ description: 'Name of the tool.' })
const actionId = string({ description: 'Id of the action that represents the tool call.' })
const turnNumber = integer({ description: 'Number of the turn in its session, from 1.' })
const toolCall = {
  tool,
  arguments: described(
    json(),
    'Arguments that the model chose. Secrets are masked, except in `turn.completed`, and for a secret key where the caller runs the tool.',
  ),
  action_id: actionId,
}

/** Who runs the tool of a call that has not run yet. */
export const runBy = {
  run_by: described(optional(oneOf('caller')), '`caller` if the caller runs the tool: a `function` tool.'),
  declared_by: described(
    optional(oneOf('page')),
    "`page` if a browser's credential declared the tool in this turn: client tokens with `sessions:tools` may run it.",
  ),
}

/** Who may decide about a call that waits. */
export const decidedBy = {
  approver: described(
    optional(oneOf('end_user')),
    '`end_user` if client tokens with `sessions:approve` may decide about the call; otherwise only the operator may.',
  ),
}

/** A connection that a tool call waits for. */
export const connectionFields = {
  connection_id: string(),
  connector: string(),
  authorize_url: described(
    nullable(string()),
    'URL where the owner signs in. Null for a connection that uses an API key.',
  ),
  expires_at: described(nullable(string()), 'Time at which the link expires.'),
} as const

/** A required connection in a log. */
export const requiredConnection = object(connectionFields, {
  title: 'RequiredConnection',
  description: 'A connection that must be established first.',
})

/** Input that a tool's server requests from a person. */
export const inputFields = {
  server: string({ description: 'Name of the server that requests the input.' }),
  server_url: string({ description: 'Endpoint of that server.' }),
  mode: described(
    oneOf('form', 'url'),
    '`form`: values that match `schema`. `url`: the person completes a task at `url`.',
  ),
  message: string({ description: 'Message from the server. Not verified.' }),
  schema: described(nullable(jsonObject()), 'JSON Schema of the values: a flat object. Null for mode `url`.'),
  url: described(
    nullable(string()),
    'Page for the person to open, after checking where the URL leads. Null for mode `form`.',
  ),
  secret_fields: described(
    array(string()),
    'Fields that appear to ask for secrets. The protocol forbids servers to request secrets in a form.',
  ),
} as const

/** Requested input in a log. */
export const requiredInput = object(inputFields, {
  title: 'RequiredInput',
  description: "Input that a tool's server requests from a person.",
})

/** Progress of a remote tool's call. */
export const progressFields = {
  progress: number({ description: 'Current progress. It only increases.' }),
  total: described(nullable(number()), 'Value of `progress` at completion; null if the server does not report it.'),
  message: described(nullable(string()), 'Message from the server. Not verified.'),
} as const

/** Fields of a log's event about a conversation that was shortened. */
export const compactedFields = {
  strategy: described(oneOf('truncate', 'summarize'), 'What replaces the messages that were removed.'),
  removed_messages: integer({ description: 'Number of messages that were removed.' }),
  tokens_before: integer({ description: 'Estimated tokens of the conversation before the compaction.' }),
  tokens_after: integer({ description: 'Estimated tokens of the conversation after the compaction.' }),
  summary: nullable(string({ description: 'Text that the model receives instead.' })),
}

/** What a guardrail found in the texts of a model call. */
export const findingFields = {
  guardrail: string({ description: 'Name of the guardrail.' }),
  check: string({ description: 'Type of the check.' }),
  stage: described(
    oneOf('input', 'tool_output', 'output'),
    'Where it was found: in the input, in what a tool returned to the model, or in what the model wrote.',
  ),
  outcome: described(
    oneOf('flagged', 'redacted', 'blocked', 'failed'),
    '`failed`: the check itself failed, and the guardrail lets such calls pass.',
  ),
  found: integer({ description: 'Number of places, texts or answers.' }),
} as const

/** A page that a text cites. */
export const urlCitationFields = {
  start_index: integer({
    description: 'Offset of the first character of the citation mark in the text of the turn, in UTF-16 code units.',
  }),
  end_index: integer({ description: 'Offset after its last character.' }),
  url: string({ description: 'URL of the page.' }),
  title: string({ description: 'Title of the page. Untrusted.' }),
} as const

const urlCitation = object(
  { type: constant('url_citation'), ...urlCitationFields },
  { title: 'UrlCitation', description: 'A page that a text cites, as in `[2]`.' },
)

/** Payloads of a session's log by event name (`sessions.turns`, `sessions.stream`). */
export const sessionEvents = {
  'session.forked': object(
    {
      session_id: string({ description: 'Session from which the history was copied.' }),
      turn_number: integer({ description: 'Last turn that was copied.' }),
      first_turn: integer({
        description: 'First turn whose events follow. Earlier turns are copied without their events.',
      }),
    },
    {
      title: 'SessionForked',
      description: 'The session was created by forking another one. The events of the copied history follow.',
    },
  ),
  'turn.started': object(
    {
      turn_number: turnNumber,
      model: string({ description: 'Model of the turn.' }),
      input_text: string({ description: "The text of the caller's input." }),
      input: optional(turnInput),
      retry_of: optional(integer({ description: 'Failed turn whose input this turn repeats (`sessions.turns`).' })),
    },
    { title: 'TurnStarted', description: 'A turn started.', open: true },
  ),
  'turn.restarted': object(
    {
      from_sequence: integer({
        description:
          'Deltas of text from this sequence number on are void, and those after this event make the text of the turn. Reasoning since the latest tool call is void too.',
      }),
      attempt: integer({ description: 'Number of the attempt that begins: 2 for the first restart.' }),
    },
    {
      title: 'TurnRestarted',
      description:
        'The server stopped while the model was answering, and makes the call again. Sent only with `restarts=true`.',
    },
  ),
  'output_text.delta': object(
    {
      delta: string({ description: 'Text to append to the text so far.' }),
      attempt: optional(integer({ description: 'Number of the attempt, after a restart.' })),
    },
    { title: 'OutputTextDelta', description: 'The model generated more text.' },
  ),
  'reasoning.delta': object(
    {
      delta: string({ description: 'Text to append to the reasoning that precedes the text of this model call.' }),
      attempt: optional(integer({ description: 'Number of the attempt, after a restart.' })),
    },
    {
      title: 'ReasoningDelta',
      description:
        'The model reasoned. Sent at most once a second, for agents whose config has `show_reasoning` and providers that show it.',
    },
  ),
  'context.compacted': object(compactedFields, {
    title: 'ContextCompacted',
    description:
      "The oldest part of the conversation was removed because it did not fit into the model's context window.",
  }),
  'guardrail.triggered': object(findingFields, {
    title: 'GuardrailTriggered',
    description:
      'A guardrail found something in the texts of a model call that were new. The text itself is not in the event.',
  }),
  'tool_call.started': object(
    { ...toolCall, ...runBy },
    { title: 'ToolCallStarted', description: 'The model called a tool.' },
  ),
  'tool_call.progress': object(
    { tool, action_id: actionId, ...progressFields },
    {
      title: 'ToolCallProgress',
      description: "Progress of a tool call, as reported by the tool's server. Sent at most once a second.",
    },
  ),
  'tool_call.completed': object(
    { tool, output: string({ description: 'Output of the tool.' }), action_id: actionId },
    { title: 'ToolCallCompleted', description: 'A tool call completed.' },
  ),
  'turn.paused': object(
    {
      reason: oneOf('approval_required', 'connection_required', 'input_required'),
      ...toolCall,
      ...runBy,
      ...decidedBy,
      connection: optional(requiredConnection),
      input: optional(requiredInput),
    },
    {
      title: 'TurnPaused',
      description:
        'The turn is waiting for the approval of a tool call, a connection, or input that a server requests.',
    },
  ),
  'turn.resumed': object(
    {
      action_id: actionId,
      resolution: described(
        oneOf('approved', 'rejected', 'connected', 'answered', 'declined', 'dismissed'),
        "Decision about the tool call; `connected` if the connection that it waited for is active; `answered`, `declined` or `dismissed` for input that the tool's server requested.",
      ),
      reason: optional(string({ description: 'Reason for the rejection, which is passed to the model.' })),
      output: optional(string({ description: 'Output of the tool, if the caller ran it.' })),
      arguments: described(optional(json()), 'Arguments that are sent to the tool, if the approver edited them.'),
    },
    { title: 'TurnResumed', description: 'A person decided about a tool call.' },
  ),
  'turn.completed': object(
    {
      turn_number: turnNumber,
      output: string({ description: 'Complete text of the turn.' }),
      usage: turnUsage,
      tool_calls: described(optional(array(object(toolCall))), 'Tool calls that the caller must run.'),
      annotations: described(optional(array(urlCitation)), 'Pages that the output cites; absent if there are none.'),
      memory: optional(memoryBlock),
    },
    { title: 'TurnCompleted', description: 'The turn is complete.' },
  ),
  'turn.failed': object(
    {
      turn_number: turnNumber,
      output: object({ text: string({ description: 'Text that was generated before the error.' }), error: turnError }),
      error: turnError,
      usage: turnUsage,
    },
    { title: 'TurnFailed', description: 'The turn ended with an error.' },
  ),
} as const

/** Reasons for which the server ends a stream before its log has ended. */
const streamEndReasons = ['credential_ended', 'deleted'] as const

/** Reason for which the server ends a stream before its log has ended. */
export type StreamEndReason = (typeof streamEndReasons)[number]

/** Last event of a stream that the server ended before its log had ended. It is not part of any log. */
export const endedStream = {
  'stream.ended': object(
    { reason: described(oneOf(...streamEndReasons), 'Reason for which the server ended the stream.') },
    {
      title: 'StreamEnded',
      description:
        '`credential_ended`: the credential of the stream has expired or was revoked; to resume after the last event, reconnect with another credential. `deleted`: the session, run or other resource, or its tenant or project, was deleted; do not reconnect.',
    },
  ),
} as const

/** Events on streams of a session: those of its log, and the end of a stream that the server ended before. */
export const streamedEvents = { ...sessionEvents, ...endedStream } as const

/** Names of events on streams, if different from those in the log (`sessions.turns`). */
export const streamNames: Readonly<Record<string, string>> = { 'output_text.delta': 'response.output_text.delta' }
