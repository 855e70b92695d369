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

/** Tokens and money of one turn. */
export const turnUsage = object(
  {
    input_tokens: integer({ description: 'Tokens of the input.' }),
    output_tokens: integer({ description: 'Tokens of the output.' }),
    total_tokens: integer({ description: 'Tokens of input and output.' }),
    cost_usd: nullable(string({ description: 'Exact decimal in USD; null when a price is unknown.' })),
  },
  { title: 'TurnUsage', description: 'Tokens and cost.', open: true },
)

/** Error that ended a turn. */
const turnError = object(
  {
    code: string({ description: 'One of the error codes.' }),
    message: string({ description: 'Sentence for developers.' }),
  },
  { title: 'TurnError', description: 'Error that ended a turn.' },
)

const tool = string({ description: 'Name of the tool.' })
const actionId = string({ description: 'Id of the action that stands for the tool call.' })
const turnNumber = integer({ description: 'Number of the turn in its session, from 1.' })
const toolCall = {
  tool,
  arguments: described(json(), 'Arguments that the model chose. Secrets are masked but in `turn.completed`.'),
  action_id: actionId,
}

/** A connection that a tool call waits for. */
export const connectionFields = {
  connection_id: string(),
  connector: string(),
  authorize_url: described(
    nullable(string()),
    'URL at which the owner signs in. Null for a connection that takes a key.',
  ),
  expires_at: described(nullable(string()), 'End of the link.'),
} as const

/** The same in a log. */
export const requiredConnection = object(connectionFields, {
  title: 'RequiredConnection',
  description: 'A connection that has to be made first.',
})

/** Input that the server of a tool requests of a person. */
export const inputFields = {
  server: string({ description: 'Name of the server that requests it.' }),
  server_url: string({ description: 'Its endpoint.' }),
  mode: described(oneOf('form', 'url'), '`form`: values by `schema`. `url`: something to do at `url`.'),
  message: string({ description: "The server's own words. They are not verified." }),
  schema: described(nullable(jsonObject()), 'JSON Schema of the values: a flat object. Null for `url`.'),
  url: described(nullable(string()), 'Page to open after reading where it leads. Null for `form`.'),
  secret_fields: described(
    array(string()),
    'Fields that seem to be for secrets. The protocol forbids servers to request those in a form.',
  ),
} as const

/** The same in a log. */
export const requiredInput = object(inputFields, {
  title: 'RequiredInput',
  description: 'Input that the server of a tool requests of a person.',
})

/** How far a call of a remote tool is. */
export const progressFields = {
  progress: number({ description: 'How far the call is; it grows.' }),
  total: described(nullable(number()), 'What `progress` grows to; null where the server does not say.'),
  message: described(nullable(string()), "The server's own words. They are not verified."),
} as const

/** What a log says of a conversation that was shortened. */
export const compactedFields = {
  strategy: described(oneOf('truncate', 'summarize'), 'What stands for the messages that were left out.'),
  removed_messages: integer({ description: 'Number of messages that were left out.' }),
  tokens_before: integer({ description: 'Tokens of the conversation before, estimated.' }),
  tokens_after: integer({ description: 'Tokens of the conversation after, estimated.' }),
  summary: nullable(string({ description: 'Text that the model reads instead.' })),
}

const urlCitation = object(
  {
    type: constant('url_citation'),
    start_index: integer({ description: 'First character of the mark in `output`, in UTF-16 code units.' }),
    end_index: integer({ description: 'Character after its last one.' }),
    url: string({ description: 'Address of the page.' }),
    title: string({ description: 'Title of the page. Untrusted.' }),
  },
  { title: 'UrlCitation', description: 'A page that a text names, as in `[2]`.' },
)

/** Payloads of a session's log by event name (`sessions.turns`, `sessions.stream`). */
export const sessionEvents = {
  'session.forked': object(
    {
      session_id: string({ description: 'Session that the history comes from.' }),
      turn_number: integer({ description: 'Last turn of the history.' }),
      first_turn: integer({ description: 'First turn whose events follow; the turns before it are kept in sum.' }),
    },
    { title: 'SessionForked', description: 'The session was forked; the events of its history follow.' },
  ),
  'turn.started': object(
    {
      turn_number: turnNumber,
      model: string({ description: 'Model of the turn.' }),
      input_text: string({ description: "The caller's input." }),
    },
    { title: 'TurnStarted', description: 'A turn began.', open: true },
  ),
  'output_text.delta': object(
    { delta: string({ description: 'Text that follows the text so far.' }) },
    { title: 'OutputTextDelta', description: 'The model wrote more text.' },
  ),
  'context.compacted': object(compactedFields, {
    title: 'ContextCompacted',
    description: "The oldest part of the conversation was left out: it did not fit into the model's context window.",
  }),
  'tool_call.started': object(toolCall, { title: 'ToolCallStarted', description: 'The model called a tool.' }),
  'tool_call.progress': object(
    { tool, action_id: actionId, ...progressFields },
    { title: 'ToolCallProgress', description: 'The server of a tool says how far a call is: once a second at most.' },
  ),
  'tool_call.completed': object(
    { tool, output: string({ description: 'Output of the tool.' }), action_id: actionId },
    { title: 'ToolCallCompleted', description: 'A tool call has its output.' },
  ),
  'turn.paused': object(
    {
      reason: oneOf('approval_required', 'connection_required', 'input_required'),
      ...toolCall,
      connection: optional(requiredConnection),
      input: optional(requiredInput),
    },
    {
      title: 'TurnPaused',
      description:
        'The turn waits for an approval of a tool call, for a connection, or for input that a server requests.',
    },
  ),
  'turn.resumed': object(
    {
      action_id: actionId,
      resolution: described(
        oneOf('approved', 'rejected', 'connected', 'answered', 'declined', 'dismissed'),
        'Decision about the tool call; `connected` when the connection that it waited for is there; `answered`, `declined` or `dismissed` for input that its server requested.',
      ),
      reason: optional(string({ description: 'Reason of a rejection, which the model reads.' })),
      output: optional(string({ description: 'Output of the tool, where the caller ran it.' })),
      arguments: described(optional(json()), 'Arguments that the tool gets, where the approval edited them.'),
    },
    { title: 'TurnResumed', description: 'A person decided about a tool call.' },
  ),
  'turn.completed': object(
    {
      turn_number: turnNumber,
      output: string({ description: 'Whole text of the turn.' }),
      usage: turnUsage,
      tool_calls: described(optional(array(object(toolCall))), 'Tool calls that the caller has to run.'),
      annotations: described(optional(array(urlCitation)), 'Pages that the output names; absent for none.'),
      memory: optional(memoryBlock),
    },
    { title: 'TurnCompleted', description: 'The turn is complete.' },
  ),
  'turn.failed': object(
    {
      turn_number: turnNumber,
      output: object({ text: string({ description: 'Text before the error.' }), error: turnError }),
      error: turnError,
      usage: turnUsage,
    },
    { title: 'TurnFailed', description: 'The turn ended with an error.' },
  ),
} as const

/** The last event of a stream whose credential ended before it did. No log has it. */
export const endedStream = {
  'stream.ended': object(
    { reason: described(oneOf('credential_ended'), 'Why the server ended the stream.') },
    {
      title: 'StreamEnded',
      description: 'The credential of the stream ended. Resume after the last event with another one.',
    },
  ),
} as const

/** What streams of a session send: its log, and the end of a stream without its credential. */
export const streamedEvents = { ...sessionEvents, ...endedStream } as const

/** Names of events on streams, where they differ from the names in the log (`sessions.turns`). */
export const streamNames: Readonly<Record<string, string>> = { 'output_text.delta': 'response.output_text.delta' }
