import {
  array,
  boolean,
  integer,
  jsonObject,
  known,
  object,
  oneOf,
  optional,
  string,
  union,
} from '#specs/dsl/schema.ts'
import { cacheControl, maybe } from './chat-shapes.ts'

const source = union([
  object(
    { type: oneOf('base64'), media_type: string(), data: string() },
    { title: 'MessageBase64Source', description: 'A file in base64.', open: true },
  ),
  object(
    { type: oneOf('url'), url: string() },
    { title: 'MessageUrlSource', description: 'A file by its URL.', open: true },
  ),
  jsonObject(),
])

const text = object(
  { type: oneOf('text'), text: string(), cache_control: cacheControl },
  { title: 'MessageTextBlock', description: 'Text.', open: true },
)

/** Block of a message's content, in the format of Anthropic's Messages API. */
export const messageBlock = known(jsonObject(), {
  other: 'OtherMessageBlock',
  shapes: [
    text,
    object(
      { type: oneOf('image'), source, cache_control: cacheControl },
      { title: 'MessageImageBlock', description: 'An image.', open: true },
    ),
    object(
      {
        type: oneOf('document'),
        source,
        title: maybe(string()),
        context: maybe(string()),
        cache_control: cacheControl,
      },
      { title: 'MessageDocumentBlock', description: 'A document, such as a PDF.', open: true },
    ),
    object(
      { type: oneOf('tool_use'), id: string(), name: string(), input: jsonObject(), cache_control: cacheControl },
      { title: 'MessageToolUseBlock', description: 'Tool call that the model requested.', open: true },
    ),
    object(
      {
        type: oneOf('tool_result'),
        tool_use_id: string(),
        content: optional(union([string(), array(jsonObject())])),
        is_error: optional(boolean()),
        cache_control: cacheControl,
      },
      { title: 'MessageToolResultBlock', description: 'Output of a tool call.', open: true },
    ),
    object(
      { type: oneOf('thinking'), thinking: string(), signature: string() },
      { title: 'MessageThinkingBlock', description: 'Reasoning of the model.', open: true },
    ),
    object(
      { type: oneOf('redacted_thinking'), data: string() },
      {
        title: 'MessageRedactedThinkingBlock',
        description: 'Reasoning that is encrypted by the provider.',
        open: true,
      },
    ),
  ],
})

/** A block of the system prompt. */
export const systemBlock = known(jsonObject(), { other: 'OtherSystemBlock', shapes: [text] })

/** A tool: the caller's own, or one of Anthropic's by its type. */
export const messageTool = known(jsonObject(), {
  other: 'OtherMessageTool',
  shapes: [
    object(
      {
        type: maybe(oneOf('custom')),
        name: string(),
        description: optional(string()),
        input_schema: jsonObject(),
        strict: optional(boolean()),
        cache_control: cacheControl,
      },
      {
        title: 'MessageTool',
        description: 'A tool that the caller runs. `input_schema` is a JSON Schema.',
        open: true,
      },
    ),
  ],
})

/** Whether the model thinks before it responds. */
export const thinking = known(jsonObject(), {
  other: 'OtherMessageThinking',
  shapes: [
    object(
      { type: oneOf('enabled'), budget_tokens: integer() },
      {
        title: 'MessageThinkingEnabled',
        description: 'Enables thinking with at most this number of tokens.',
        open: true,
      },
    ),
    object(
      { type: oneOf('disabled', 'adaptive') },
      {
        title: 'MessageThinkingChoice',
        description: 'Thinking is disabled, or its length is chosen by the model.',
        open: true,
      },
    ),
  ],
})

/** Cache breakpoint on the latest message. */
export const requestCacheControl = known(jsonObject(), {
  other: 'OtherCacheControl',
  shapes: [
    object(
      { type: oneOf('ephemeral'), ttl: optional(oneOf('5m', '1h')) },
      { title: 'CacheControl', description: "Cache breakpoint for the provider's prompt cache.", open: true },
    ),
  ],
})

/** Format of the response. */
export const outputFormat = known(jsonObject(), {
  other: 'OtherOutputFormat',
  shapes: [
    object(
      { type: oneOf('json_schema'), schema: jsonObject() },
      { title: 'MessageSchemaFormat', description: 'JSON that follows a schema.', open: true },
    ),
  ],
})
