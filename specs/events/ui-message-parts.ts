import {
  array,
  boolean,
  constant,
  described,
  json,
  jsonObject,
  object,
  oneOf,
  optional,
  type Shape,
  string,
} from '../dsl/schema.ts'

const partId = string({ description: 'Id of the part in its message.' })
const toolCallId = string({ description: 'Id of the tool call: that of its action.' })

const part = <const N extends string, const F extends Shape>(type: N, fields: F, description: string) => {
  const title = type.replace(/(^|-)(.)/g, (_, __, first: string) => first.toUpperCase())
  return object({ type: constant(type), ...fields }, { title: `UiMessage${title}`, description })
}

/** Parts of a UI message stream by their type: those of Vercel's AI SDK that this server sends. */
export const uiMessageParts = {
  start: part('start', { messageId: optional(partId) }, 'A message begins, or goes on.'),
  'start-step': part('start-step', {}, 'A model call begins, or its tools have answered.'),
  'text-start': part('text-start', { id: partId }, 'A text begins.'),
  'text-delta': part('text-delta', { id: partId, delta: string() }, 'More of a text.'),
  'text-end': part('text-end', { id: partId }, 'A text is complete.'),
  'reasoning-start': part('reasoning-start', { id: partId }, 'Reasoning begins.'),
  'reasoning-delta': part('reasoning-delta', { id: partId, delta: string() }, 'More of the reasoning.'),
  'reasoning-end': part('reasoning-end', { id: partId }, 'The reasoning is complete.'),
  'reset-step': part('reset-step', {}, 'The text of this step is void: the model call is made again.'),
  'tool-input-available': part(
    'tool-input-available',
    { toolCallId, toolName: string(), input: json() },
    'The model called a tool.',
  ),
  'tool-approval-request': part(
    'tool-approval-request',
    { approvalId: string(), toolCallId },
    'This credential may decide about the call.',
  ),
  'tool-approval-response': part(
    'tool-approval-response',
    { approvalId: string(), approved: boolean() },
    'A person decided about the call.',
  ),
  'tool-output-available': part(
    'tool-output-available',
    { toolCallId, output: json() },
    'A tool answered. An output that is the JSON of an object or a list is sent as that value.',
  ),
  'tool-output-denied': part('tool-output-denied', { toolCallId }, 'The call was rejected.'),
  'data-progress': part(
    'data-progress',
    { id: partId, data: jsonObject(), transient: constant(true) },
    'Progress of a tool call, as in `tool_call.progress`.',
  ),
  'data-connection': part(
    'data-connection',
    { id: partId, data: jsonObject() },
    'The turn waits for a connection, as in `turn.paused`.',
  ),
  'data-input': part(
    'data-input',
    { id: partId, data: jsonObject() },
    'The turn waits for input that a server requests, as in `turn.paused`.',
  ),
  'source-url': part(
    'source-url',
    { sourceId: string(), url: string(), title: string() },
    'A page that the text cites.',
  ),
  'finish-step': part('finish-step', {}, 'The step is complete.'),
  abort: part('abort', { reason: string() }, 'The turn was cancelled.'),
  error: part(
    'error',
    {
      errorText: string(),
      code: optional(string({ description: 'Why the stream ended before the turn: a reason as of `stream.ended`.' })),
    },
    'The turn failed, or the stream ended early.',
  ),
  finish: part(
    'finish',
    {
      finishReason: described(
        oneOf('stop', 'tool-calls', 'interrupted', 'other'),
        '`tool-calls`: the turn waits for approvals or outputs.',
      ),
      messageMetadata: described(optional(jsonObject()), 'Number and usage of the turn.'),
    },
    'The stream is complete.',
  ),
} as const

/** Messages of a page with that SDK, as far as a session reads them. */
export const uiMessages = array(
  object(
    {
      id: string({ maxLength: 256, description: 'Id of the message.' }),
      role: oneOf('system', 'user', 'assistant'),
      parts: described(
        array(jsonObject(), { maxItems: 4096 }),
        'Parts of the message. Texts, files that are images, answered approvals and outputs of tools are read.',
      ),
      metadata: optional(json()),
    },
    { title: 'UiMessage', description: "A message of a page with Vercel's AI SDK.", open: true },
  ),
  { minItems: 1 },
)
