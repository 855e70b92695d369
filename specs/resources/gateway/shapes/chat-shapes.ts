import type { JsonObject } from '#specs/dsl/json.ts'
import {
  array,
  boolean,
  described,
  integer,
  jsonObject,
  known,
  nullable,
  number,
  object,
  oneOf,
  optional,
  type Schema,
  string,
  union,
} from '#specs/dsl/schema.ts'

/** A field of a body that may be absent or null. */
export const maybe = <S extends Schema<unknown>>(schema: S) => optional(nullable(schema))

const ephemeral = object(
  { type: oneOf('ephemeral'), ttl: optional(oneOf('5m', '1h')) },
  { title: 'CacheControl', description: "Cache breakpoint for the provider's prompt cache.", open: true },
)

/** Cache breakpoint, for providers that cache on request. */
export const cacheControl = maybe(ephemeral)

/** Part of a message's content, in the format of OpenAI's chat completions. */
export const chatPart = known(jsonObject(), {
  other: 'OtherChatPart',
  shapes: [
    object(
      { type: oneOf('text'), text: string(), cache_control: cacheControl },
      { title: 'ChatTextPart', description: 'Text of a message.', open: true },
    ),
    object(
      {
        type: oneOf('image_url'),
        image_url: object(
          {
            url: string({ description: 'Address of the image, or a data URL.' }),
            detail: optional(oneOf('auto', 'low', 'high')),
          },
          { open: true },
        ),
      },
      { title: 'ChatImagePart', description: 'An image.', open: true },
    ),
    object(
      {
        type: oneOf('input_audio'),
        input_audio: object({ data: string(), format: oneOf('wav', 'mp3') }, { open: true }),
      },
      { title: 'ChatAudioPart', description: 'Audio in base64.', open: true },
    ),
    object(
      {
        type: oneOf('file'),
        file: object(
          { file_data: optional(string()), file_id: optional(string()), filename: optional(string()) },
          { open: true },
        ),
      },
      { title: 'ChatFilePart', description: 'A file, by its id or as a data URL.', open: true },
    ),
    object(
      { type: oneOf('refusal'), refusal: string() },
      { title: 'ChatRefusalPart', description: 'Refusal message of the model.', open: true },
    ),
  ],
})

const schemaOfArguments = described(jsonObject(), 'JSON Schema of the arguments.')

const chatFunction = object(
  {
    name: string(),
    description: optional(string()),
    parameters: optional(schemaOfArguments),
    strict: maybe(boolean()),
  },
  { title: 'ChatFunction', description: 'Function that the model may call.', open: true },
)

/**
 * A tool of chat completions.
 *
 * @param rest minimal schema of a tool.
 * @param other title of all tools that are none of the known ones.
 */
export const chatTool = <T extends JsonObject>(rest: Schema<T, 'required'>, other: string) =>
  known(rest, {
    other,
    shapes: [
      object(
        { type: oneOf('function'), function: chatFunction },
        { title: 'ChatFunctionTool', description: 'A function that the caller runs.', open: true },
      ),
      object(
        {
          type: oneOf('custom'),
          custom: object(
            { name: string(), description: optional(string()), format: optional(jsonObject()) },
            { open: true },
          ),
        },
        { title: 'ChatCustomTool', description: 'A tool whose input is free-form text.', open: true },
      ),
    ],
  })

/** A tool call of a model. */
export const chatToolCall = known(jsonObject(), {
  other: 'OtherChatToolCall',
  shapes: [
    object(
      {
        id: string(),
        type: oneOf('function'),
        function: object(
          {
            name: string(),
            arguments: string({ description: 'Arguments as JSON text, exactly as the model generated them.' }),
          },
          { open: true },
        ),
      },
      { title: 'ChatFunctionCall', description: 'Call of a function.', open: true },
    ),
    object(
      { id: string(), type: oneOf('custom'), custom: object({ name: string(), input: string() }, { open: true }) },
      { title: 'ChatCustomCall', description: 'A call of a custom tool.', open: true },
    ),
  ],
})

const allowedTools = object({ mode: oneOf('auto', 'required'), tools: array(jsonObject()) }, { open: true })

/** Whether a tool is called, and which one. */
export const chatToolChoice = known(union([string(), jsonObject()]), {
  other: '',
  shapes: [
    oneOf('none', 'auto', 'required'),
    object(
      { type: oneOf('function'), function: object({ name: string() }, { open: true }) },
      { title: 'ChatFunctionChoice', description: 'Forces the model to call this function.', open: true },
    ),
    object(
      { type: oneOf('allowed_tools'), allowed_tools: allowedTools },
      { title: 'ChatAllowedTools', description: 'Restricts the model to these tools.', open: true },
    ),
  ],
})

/** A named JSON Schema for the response. */
const namedSchema = object(
  {
    name: string(),
    description: optional(string()),
    schema: optional(described(jsonObject(), 'JSON Schema of the answer.')),
    strict: maybe(boolean()),
  },
  { title: 'AnswerSchema', open: true },
)

const formats = [
  object(
    { type: oneOf('text', 'json_object') },
    { title: 'ChatPlainFormat', description: 'Text, or any JSON object.', open: true },
  ),
  object(
    { type: oneOf('json_schema'), json_schema: namedSchema },
    { title: 'ChatSchemaFormat', description: 'JSON that follows a schema.', open: true },
  ),
]

/** Format of the response. */
export const chatResponseFormat = known(jsonObject(), {
  other: 'OtherResponseFormat',
  shapes: formats,
})

/** Format of the response in our own API, which also accepts a single word. */
export const answerFormat = known(union([string(), jsonObject()]), {
  other: '',
  shapes: [oneOf('text', 'json', 'json_object'), ...formats],
})

/** Fields of chat completions that are forwarded to the provider unchanged. */
export const passedOnFields = {
  top_p: maybe(number({ description: 'Nucleus sampling, from 0 to 1.' })),
  stop: maybe(union([string(), array(string())])),
  seed: maybe(integer()),
  user: maybe(string()),
  parallel_tool_calls: maybe(boolean()),
  reasoning_effort: maybe(string({ description: 'Amount of reasoning, such as `low`, `medium` or `high`.' })),
}
