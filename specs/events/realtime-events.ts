import {
  array,
  boolean,
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
  type Shape,
  string,
  union,
} from '../dsl/schema.ts'

/*
 * Events of OpenAI's Realtime API over WebSocket, by `type`. For a model whose provider has realtime sessions they are
 * passed on, whatever fields they have; for other models and for agents the server itself takes and sends these.
 */

const open = { open: true } as const
const word = string({ minLength: 1, maxLength: 256 })
const itemId = string({ minLength: 1, maxLength: 128, description: 'Id of an item of the conversation.' })
const contentIndex = integer({ min: 0, description: 'Index of the part within the content of the item.' })

const audioFormat = object(
  { type: oneOf('audio/pcm', 'audio/pcmu', 'audio/pcma'), rate: optional(integer()) },
  { open: true },
)

const turnDetection = object(
  {
    type: oneOf('server_vad', 'semantic_vad'),
    threshold: described(optional(number({ min: 0, max: 1 })), 'Loudness of speech. Default: 0.5.'),
    prefix_padding_ms: optional(integer({ min: 0, max: 5_000 })),
    silence_duration_ms: optional(integer({ min: 100, max: 10_000 })),
    create_response: optional(boolean()),
    interrupt_response: optional(boolean()),
  },
  open,
)

/** The fields of a session's configuration. */
const configFields = {
  instructions: optional(string()),
  output_modalities: described(
    optional(array(oneOf('text', 'audio'), { minItems: 1, maxItems: 1 })),
    'Whether the model answers in text, or in speech with its text. Default: `audio`.',
  ),
  audio: optional(
    object(
      {
        input: optional(
          object(
            {
              format: optional(audioFormat),
              transcription: optional(
                nullable(object({ model: optional(word), language: optional(word), prompt: optional(string()) }, open)),
              ),
              turn_detection: described(
                optional(nullable(turnDetection)),
                'How the end of speech is detected; null: the client commits the audio and requests responses.',
              ),
            },
            open,
          ),
        ),
        output: optional(
          object(
            {
              format: optional(audioFormat),
              voice: optional(union([word, jsonObject()])),
              speed: optional(number({ min: 0.25, max: 4 })),
              model: described(
                optional(word),
                'Speech model of this server, for a model without realtime sessions. Default: the first one that can be used.',
              ),
            },
            open,
          ),
        ),
      },
      open,
    ),
  ),
  tools: described(optional(array(jsonObject(), { maxItems: 128 })), 'Functions that the client runs.'),
  tool_choice: optional(json()),
  max_output_tokens: described(
    optional(union([integer({ min: 1, max: 4096 }), constant('inf')])),
    'Limit of one response. Default: `inf`.',
  ),
} as const

/** Configuration of a session. */
export const realtimeConfig = object(
  { type: optional(oneOf('realtime', 'transcription')), model: optional(word), ...configFields },
  { title: 'RealtimeConfig', description: 'Configuration of a realtime session.', open: true },
)

const responseConfig = object(
  {
    ...configFields,
    conversation: optional(oneOf('auto', 'none')),
    metadata: optional(nullable(jsonObject())),
    input: optional(array(jsonObject(), { maxItems: 1_000 })),
  },
  { title: 'RealtimeResponseConfig', open: true },
)

/** An item of a conversation. */
const item = object(
  { id: optional(itemId), type: string(), status: optional(string()) },
  { title: 'RealtimeItem', description: 'A message, a call of a function, its output, or an approval.', open: true },
)

const newItem = union(
  [
    object(
      {
        type: constant('message'),
        id: optional(itemId),
        role: oneOf('system', 'user', 'assistant'),
        content: array(
          object(
            {
              type: oneOf('input_text', 'input_audio', 'input_image', 'output_text', 'output_audio', 'text', 'audio'),
              text: optional(string()),
              audio: optional(string()),
              transcript: optional(nullable(string())),
              image_url: optional(string()),
            },
            open,
          ),
          { maxItems: 64 },
        ),
      },
      open,
    ),
    object(
      {
        type: constant('function_call'),
        id: optional(itemId),
        call_id: optional(word),
        name: word,
        arguments: string(),
      },
      open,
    ),
    object({ type: constant('function_call_output'), id: optional(itemId), call_id: word, output: string() }, open),
    object(
      {
        type: constant('mcp_approval_response'),
        id: optional(itemId),
        approval_request_id: word,
        approve: boolean(),
        reason: optional(nullable(string())),
      },
      open,
    ),
  ],
  'type',
)

const sent = (type: string, fields: Shape, description: string) =>
  object(
    { type: constant(type), event_id: optional(nullable(string({ maxLength: 512 }))), ...fields },
    { ...open, description },
  )

/** Events from clients by their `type`. */
export const realtimeFrames = {
  'session.update': sent('session.update', { session: realtimeConfig }, 'Changes the configuration.'),
  'conversation.item.create': sent(
    'conversation.item.create',
    { item: newItem, previous_item_id: optional(nullable(string({ maxLength: 128 }))) },
    'Adds an item to the conversation.',
  ),
  'conversation.item.retrieve': sent('conversation.item.retrieve', { item_id: itemId }, 'Requests an item.'),
  'conversation.item.delete': sent('conversation.item.delete', { item_id: itemId }, 'Removes an item.'),
  'conversation.item.truncate': sent(
    'conversation.item.truncate',
    { item_id: itemId, content_index: contentIndex, audio_end_ms: integer({ min: 0 }) },
    'Shortens an answer to what the user has heard.',
  ),
  'input_audio_buffer.append': sent(
    'input_audio_buffer.append',
    { audio: string({ description: 'Audio in base64: 16-bit samples at 24 kHz, mono.' }) },
    'Adds audio to the buffer.',
  ),
  'input_audio_buffer.commit': sent('input_audio_buffer.commit', {}, 'Makes an item of the audio in the buffer.'),
  'input_audio_buffer.clear': sent('input_audio_buffer.clear', {}, 'Discards the audio in the buffer.'),
  'output_audio_buffer.clear': sent('output_audio_buffer.clear', {}, 'Has no effect over WebSocket.'),
  'response.create': sent('response.create', { response: optional(nullable(responseConfig)) }, 'Requests a response.'),
  'response.cancel': sent('response.cancel', { response_id: optional(word) }, 'Cancels the response in progress.'),
}

const given = (type: string, fields: Shape, description: string) =>
  object({ type: constant(type), event_id: string(), ...fields }, { ...open, description })

const session = object(
  { id: optional(string()), object: constant('realtime.session'), type: constant('realtime'), model: string() },
  { title: 'RealtimeSession', description: 'A session with its whole configuration.', open: true },
)
const response = object(
  {
    id: string(),
    object: constant('realtime.response'),
    status: oneOf('in_progress', 'completed', 'cancelled', 'failed', 'incomplete'),
    output: array(item),
    usage: optional(nullable(jsonObject())),
  },
  { title: 'RealtimeResponse', open: true },
)
const ofResponse = { response_id: string(), output_index: integer({ min: 0 }) }
const ofItem = { ...ofResponse, item_id: itemId }
const ofPart = { ...ofItem, content_index: contentIndex }
const part = jsonObject({ title: 'RealtimePart' })
const before = { previous_item_id: optional(nullable(string())) }

const error = object(
  {
    type: string(),
    code: optional(
      nullable(string({ description: 'One of the error codes, or the code that OpenAI has for the refusal.' })),
    ),
    message: string(),
    param: optional(nullable(string())),
    event_id: optional(nullable(string({ description: "Id of the client's event that caused the error." }))),
  },
  { title: 'RealtimeError', open: true },
)

/** Events to clients by their `type`. */
export const realtimeEvents = {
  'session.created': given('session.created', { session }, 'The session is open.'),
  'session.updated': given('session.updated', { session }, 'The configuration has changed.'),
  error: given('error', { error }, 'An event was refused, or the session ends.'),
  'conversation.item.added': given('conversation.item.added', { item, ...before }, 'An item was added.'),
  'conversation.item.done': given('conversation.item.done', { item, ...before }, 'An item is complete.'),
  'conversation.item.retrieved': given('conversation.item.retrieved', { item }, 'The requested item.'),
  'conversation.item.deleted': given('conversation.item.deleted', { item_id: itemId }, 'An item was removed.'),
  'conversation.item.truncated': given(
    'conversation.item.truncated',
    { item_id: itemId, content_index: contentIndex, audio_end_ms: integer() },
    'An answer was shortened.',
  ),
  'conversation.item.input_audio_transcription.completed': given(
    'conversation.item.input_audio_transcription.completed',
    { item_id: itemId, content_index: contentIndex, transcript: string(), usage: jsonObject() },
    'The text of audio of the user.',
  ),
  'conversation.item.input_audio_transcription.failed': given(
    'conversation.item.input_audio_transcription.failed',
    { item_id: itemId, content_index: contentIndex, error: jsonObject() },
    'Audio of the user could not be transcribed.',
  ),
  'input_audio_buffer.speech_started': given(
    'input_audio_buffer.speech_started',
    { audio_start_ms: integer(), item_id: itemId },
    'The user begins to speak.',
  ),
  'input_audio_buffer.speech_stopped': given(
    'input_audio_buffer.speech_stopped',
    { audio_end_ms: integer(), item_id: itemId },
    'The user has stopped to speak.',
  ),
  'input_audio_buffer.committed': given(
    'input_audio_buffer.committed',
    { item_id: itemId, ...before },
    'The audio in the buffer became an item.',
  ),
  'input_audio_buffer.cleared': given('input_audio_buffer.cleared', {}, 'The buffer is empty.'),
  'response.created': given('response.created', { response }, 'A response begins.'),
  'response.done': given('response.done', { response }, 'A response has ended.'),
  'response.output_item.added': given('response.output_item.added', { ...ofResponse, item }, 'An item begins.'),
  'response.output_item.done': given('response.output_item.done', { ...ofResponse, item }, 'An item is complete.'),
  'response.content_part.added': given('response.content_part.added', { ...ofPart, part }, 'A part begins.'),
  'response.content_part.done': given('response.content_part.done', { ...ofPart, part }, 'A part is complete.'),
  'response.output_text.delta': given('response.output_text.delta', { ...ofPart, delta: string() }, 'More text.'),
  'response.output_text.done': given('response.output_text.done', { ...ofPart, text: string() }, 'The whole text.'),
  'response.output_audio.delta': given(
    'response.output_audio.delta',
    { ...ofPart, delta: string({ description: 'Audio in base64.' }) },
    'More audio.',
  ),
  'response.output_audio.done': given('response.output_audio.done', ofPart, 'The audio is complete.'),
  'response.output_audio_transcript.delta': given(
    'response.output_audio_transcript.delta',
    { ...ofPart, delta: string() },
    'Text of the audio that follows.',
  ),
  'response.output_audio_transcript.done': given(
    'response.output_audio_transcript.done',
    { ...ofPart, transcript: string() },
    'The text of the whole audio.',
  ),
  'response.function_call_arguments.delta': given(
    'response.function_call_arguments.delta',
    { ...ofItem, call_id: string(), delta: string() },
    'More of the arguments of a call.',
  ),
  'response.function_call_arguments.done': given(
    'response.function_call_arguments.done',
    { ...ofItem, call_id: string(), name: string(), arguments: string() },
    'A call of a function that the client runs.',
  ),
}
