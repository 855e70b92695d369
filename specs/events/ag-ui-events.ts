import {
  array,
  constant,
  described,
  integer,
  json,
  jsonObject,
  object,
  oneOf,
  optional,
  type Shape,
  string,
  union,
} from '../dsl/schema.ts'

const messageId = string({ description: 'Id of the message.' })
const toolCallId = string({ description: 'Id of the tool call: that of its action.' })
const delta = string({ description: 'Text to append.' })
const run = {
  threadId: string({ description: 'Thread of the run.' }),
  runId: string({ description: 'Id of the run.' }),
}

const event = <const N extends string, const F extends Shape>(type: N, fields: F, description: string) => {
  const title = type.toLowerCase().replace(/(^|_)(.)/g, (_, __, first: string) => first.toUpperCase())
  return object({ type: constant(type), ...fields }, { title: `AgUi${title}`, description })
}

const interrupt = object(
  {
    id: string({ description: 'Id of the action that waits. A resume entry names it.' }),
    reason: described(
      oneOf('approval_required', 'input_required', 'connection_required'),
      'What the turn waits for, as in `turn.paused`.',
    ),
    message: string({ description: 'Message for the person who answers. Not verified where a server wrote it.' }),
    toolCallId,
    responseSchema: described(
      optional(jsonObject()),
      'JSON Schema of the payload. Absent where this credential cannot answer.',
    ),
    metadata: described(
      optional(jsonObject()),
      '`approver: operator`: only the operator decides. `connection`, `input`: as in `turn.paused`.',
    ),
  },
  { title: 'AgUiInterrupt', description: 'A tool call that the turn waits for.' },
)

const outcome = union(
  [
    object(
      {
        type: constant('success'),
        pendingToolCallIds: described(
          optional(array(string())),
          'Calls of functions that the page answers by a message.',
        ),
      },
      { title: 'AgUiSuccess', description: 'The turn is complete, or waits for functions of the page.' },
    ),
    object(
      { type: constant('interrupt'), interrupts: array(interrupt, { minItems: 1 }) },
      { title: 'AgUiInterrupted', description: 'The turn waits for decisions.' },
    ),
    object({ type: constant('cancelled') }, { title: 'AgUiCancelled', description: 'The turn was cancelled.' }),
  ],
  'type',
)

/** Events of an AG-UI run by their type: those of AG-UI 1.0 that this server sends. */
export const agUiEvents = {
  RUN_STARTED: event('RUN_STARTED', { ...run, protocolVersion: constant('1.0') }, 'A run begins.'),
  STATE_SNAPSHOT: event(
    'STATE_SNAPSHOT',
    { snapshot: object({ session_id: string() }) },
    'The state, where the page has none: the session of the thread.',
  ),
  STATE_DELTA: event(
    'STATE_DELTA',
    { delta: array(object({ op: constant('add'), path: constant('/session_id'), value: string() })) },
    'The session of the thread, where the page has a state of its own.',
  ),
  MESSAGES_SNAPSHOT: event(
    'MESSAGES_SNAPSHOT',
    { messages: array(jsonObject()) },
    'All messages before those that follow. What a crash made void is missing.',
  ),
  TEXT_MESSAGE_START: event('TEXT_MESSAGE_START', { messageId, role: constant('assistant') }, 'A text begins.'),
  TEXT_MESSAGE_CONTENT: event('TEXT_MESSAGE_CONTENT', { messageId, delta }, 'More of a text.'),
  TEXT_MESSAGE_END: event('TEXT_MESSAGE_END', { messageId }, 'A text is complete.'),
  REASONING_START: event('REASONING_START', { messageId }, 'The model reasons, of agents that show it.'),
  REASONING_MESSAGE_START: event(
    'REASONING_MESSAGE_START',
    { messageId, role: constant('reasoning') },
    'A message of what the model reasons begins, or one that was made void goes on.',
  ),
  REASONING_MESSAGE_CONTENT: event('REASONING_MESSAGE_CONTENT', { messageId, delta }, 'More of the reasoning.'),
  REASONING_MESSAGE_END: event('REASONING_MESSAGE_END', { messageId }, 'The message is complete.'),
  REASONING_END: event('REASONING_END', { messageId }, 'The reasoning is complete.'),
  TOOL_CALL_START: event(
    'TOOL_CALL_START',
    { toolCallId, toolCallName: string(), parentMessageId: messageId },
    'The model called a tool.',
  ),
  TOOL_CALL_ARGS: event('TOOL_CALL_ARGS', { toolCallId, delta: string() }, 'The arguments of a call, as JSON.'),
  TOOL_CALL_END: event('TOOL_CALL_END', { toolCallId }, 'The arguments of a call are complete.'),
  TOOL_CALL_RESULT: event(
    'TOOL_CALL_RESULT',
    { messageId, toolCallId, content: string(), role: constant('tool') },
    'A tool answered, or its call was rejected.',
  ),
  CUSTOM: event(
    'CUSTOM',
    { name: oneOf('tool_call.progress', 'citations'), value: json() },
    'Progress of a tool call as in `tool_call.progress`, or the pages that the text cites.',
  ),
  RUN_FINISHED: event(
    'RUN_FINISHED',
    {
      ...run,
      outcome,
      result: described(optional(jsonObject()), 'Number and cost of the turn.'),
      usage: described(
        optional(
          array(
            object({
              model: optional(string()),
              inputTokens: optional(integer()),
              outputTokens: optional(integer()),
              totalTokens: optional(integer()),
            }),
          ),
        ),
        'Tokens of the turn.',
      ),
    },
    'The turn is complete, waits, or was cancelled.',
  ),
  RUN_ERROR: event(
    'RUN_ERROR',
    {
      message: string(),
      code: string({ description: 'One of the error codes, `restarted`, or why the stream ended.' }),
    },
    'The turn failed. `restarted`: the answer begins anew; run again to follow it.',
  ),
} as const

const content = described(optional(json()), 'A text, or parts: of the user texts and images, of a tool texts.')

/** Messages of a page with AG-UI, as far as a session reads them. */
export const agUiMessages = array(
  object(
    {
      id: string({ maxLength: 256, description: 'Id of the message, unique in its thread.' }),
      role: oneOf('developer', 'system', 'assistant', 'user', 'tool', 'activity', 'reasoning'),
      content,
      toolCallId: optional(string({ maxLength: 256, description: 'Call that a message of a tool answers.' })),
      error: optional(string({ description: 'Why the tool failed.' })),
    },
    { title: 'AgUiMessage', description: 'A message of a page with AG-UI.', open: true },
  ),
)

/** Tools of a page with AG-UI. */
export const agUiTools = array(
  object(
    {
      name: string({ minLength: 1, maxLength: 64, pattern: '^[a-zA-Z0-9_-]+$', description: 'Name of the tool.' }),
      description: optional(string({ maxLength: 4096, description: 'Tells the model when to call the tool.' })),
      parameters: described(optional(jsonObject()), 'JSON Schema of the arguments.'),
    },
    { title: 'AgUiTool', description: 'A function that the page runs.', open: true },
  ),
  { maxItems: 128 },
)

/** Answers to the interrupts of the run before. */
export const agUiResume = array(
  object(
    {
      interruptId: string({ minLength: 1, maxLength: 128, description: 'Id of the interrupt.' }),
      status: described(
        oneOf('resolved', 'cancelled'),
        '`cancelled` rejects the call, or leaves it to those who may decide.',
      ),
      payload: described(
        optional(json()),
        '`{"approved": true}` or `{"approved": false}` for an approval, and the values of a requested form.',
      ),
    },
    { title: 'AgUiResumeEntry', description: 'Answer to an interrupt.', open: true },
  ),
  { maxItems: 128 },
)
