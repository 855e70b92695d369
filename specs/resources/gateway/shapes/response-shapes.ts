import {
  array,
  boolean,
  described,
  integer,
  jsonObject,
  known,
  object,
  oneOf,
  optional,
  string,
  union,
} from '#specs/dsl/schema.ts'
import { maybe } from './chat-shapes.ts'

/** Part of an input message, in the format of OpenAI's Responses API. */
export const responsePart = known(jsonObject(), {
  other: 'OtherResponsePart',
  shapes: [
    object(
      { type: oneOf('input_text', 'output_text'), text: string() },
      { title: 'ResponseTextPart', description: 'Text of the user or of an earlier response.', open: true },
    ),
    object(
      {
        type: oneOf('input_image'),
        image_url: maybe(string({ description: 'Address of the image, or a data URL.' })),
        file_id: maybe(string()),
        detail: optional(oneOf('auto', 'low', 'high')),
      },
      { title: 'ResponseImagePart', description: 'An image.', open: true },
    ),
    object(
      {
        type: oneOf('input_file'),
        file_data: optional(string()),
        file_id: maybe(string()),
        file_url: optional(string()),
        filename: optional(string()),
      },
      { title: 'ResponseFilePart', description: 'A file.', open: true },
    ),
  ],
})

const callId = { call_id: string() }

/** An item of the input. */
export const responseInputItem = known(jsonObject(), {
  other: 'OtherResponseInputItem',
  shapes: [
    object(
      {
        type: optional(oneOf('message')),
        role: oneOf('user', 'assistant', 'system', 'developer'),
        content: union([string(), array(responsePart)]),
      },
      { title: 'ResponseInputMessage', description: 'A message.', open: true },
    ),
    object(
      { type: oneOf('function_call'), ...callId, name: string(), arguments: string() },
      { title: 'ResponseFunctionCall', description: 'Tool call that the model requested.', open: true },
    ),
    object(
      { type: oneOf('function_call_output'), ...callId, output: union([string(), array(responsePart)]) },
      { title: 'ResponseFunctionOutput', description: 'Output of a tool call.', open: true },
    ),
    object(
      { type: oneOf('custom_tool_call'), ...callId, name: string(), input: string() },
      { title: 'ResponseCustomCall', description: 'A call of a custom tool.', open: true },
    ),
    object(
      { type: oneOf('custom_tool_call_output'), ...callId, output: union([string(), array(responsePart)]) },
      { title: 'ResponseCustomOutput', description: 'Output of a custom tool.', open: true },
    ),
    object(
      { type: oneOf('reasoning'), id: optional(string()), summary: array(jsonObject()) },
      { title: 'ResponseReasoning', description: 'Reasoning of the model.', open: true },
    ),
    object(
      { type: oneOf('item_reference'), id: string() },
      { title: 'ResponseItemReference', description: 'An item of a stored response.', open: true },
    ),
  ],
})

/** A tool of a response. */
export const responseTool = known(jsonObject(), {
  other: 'OtherResponseTool',
  shapes: [
    object(
      {
        type: oneOf('function'),
        name: string(),
        description: maybe(string()),
        parameters: maybe(described(jsonObject(), 'JSON Schema of the arguments.')),
        strict: maybe(boolean()),
      },
      { title: 'ResponseFunctionTool', description: 'A function that the caller runs.', open: true },
    ),
    object(
      { type: oneOf('custom'), name: string(), description: optional(string()), format: optional(jsonObject()) },
      { title: 'ResponseCustomTool', description: 'A tool whose input is free-form text.', open: true },
    ),
    object(
      {
        type: oneOf('web_search', 'web_search_preview'),
        search_context_size: optional(oneOf('low', 'medium', 'high')),
      },
      { title: 'ResponseWebSearchTool', description: 'Search of the web.', open: true },
    ),
    object(
      { type: oneOf('file_search'), vector_store_ids: array(string()), max_num_results: optional(integer()) },
      { title: 'ResponseFileSearchTool', description: 'Search of knowledge bases.', open: true },
    ),
  ],
})

/** Whether a tool is called, and which one. */
export const responseToolChoice = known(union([string(), jsonObject()]), {
  other: '',
  shapes: [
    oneOf('none', 'auto', 'required'),
    object(
      { type: oneOf('function', 'custom'), name: string() },
      { title: 'ResponseNamedChoice', description: 'Forces the model to call this tool.', open: true },
    ),
    object(
      { type: oneOf('allowed_tools'), mode: oneOf('auto', 'required'), tools: array(jsonObject()) },
      { title: 'ResponseAllowedTools', description: 'Restricts the model to these tools.', open: true },
    ),
  ],
})

/** Format of the response's text. */
export const responseTextFormat = known(jsonObject(), {
  other: 'OtherTextFormat',
  shapes: [
    object(
      { type: oneOf('text', 'json_object') },
      { title: 'ResponsePlainFormat', description: 'Text, or any JSON object.', open: true },
    ),
    object(
      {
        type: oneOf('json_schema'),
        name: string(),
        schema: jsonObject(),
        description: optional(string()),
        strict: maybe(boolean()),
      },
      { title: 'ResponseSchemaFormat', description: 'JSON that follows a schema.', open: true },
    ),
  ],
})
