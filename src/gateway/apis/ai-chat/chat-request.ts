import type { ChatBody } from '#gateway/call/chat-calls.ts'
import { isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { BodyOf } from '#specs/index.ts'
import { given, invalid, missing, needMediaType, needText } from '../chat-parts.ts'

type Body = BodyOf<'ai_chat.create'>
type Message = Body['messages'][number]

/**
 * Converts a request of `/api/ai/chat` to the form of OpenAI's chat completions.
 *
 * @throws {ServiceError} `missing_field`, `invalid_field` with the field's path.
 */
export const chatRequestOf = (body: Body): ChatBody =>
  given({
    model: body.model,
    models: body.models,
    messages: body.messages.map(messageOf),
    temperature: body.temperature,
    top_p: body.topP ?? body.top_p,
    max_tokens: body.maxTokens ?? body.max_tokens,
    stop: body.stop,
    tools: body.tools?.length ? body.tools.map(toolOf) : undefined,
    tool_choice: choiceOf(
      body.toolChoice ?? body.tool_choice,
      body.toolChoice === undefined ? 'tool_choice' : 'toolChoice',
    ),
    response_format: formatOf(
      body.responseFormat ?? body.response_format,
      body.responseFormat === undefined ? 'response_format' : 'responseFormat',
    ),
  })

const messageOf = (message: Message, at: number): WireObject => {
  const path = `messages[${at}]`
  const { role, name } = message
  const calls = message.toolCalls ?? message.tool_calls
  const content = contentOf(message.content, `${path}.content`)
  if (role === 'tool') {
    const id = needText(message.toolCallId ?? message.tool_call_id, `${path}.tool_call_id`)
    return { role, tool_call_id: id, content: content ?? '' }
  }
  if (content === null && !(role === 'assistant' && calls?.length)) throw missing(`${path}.content`)
  const tool_calls = calls?.map((call, index) => callOf(call, `${path}.tool_calls[${index}]`))
  return { ...given({ role, name, tool_calls: tool_calls?.length ? tool_calls : undefined }), content }
}

const contentOf = (content: Message['content'], path: string): string | readonly WireObject[] | null => {
  if (content === undefined || content === null) return null
  if (typeof content === 'string') return content
  return content.map((part, at) => partOf(part, `${path}[${at}]`))
}

const partOf = (part: WireObject, path: string): WireObject => {
  switch (part.type) {
    case 'text':
      if (typeof part.text !== 'string') throw missing(`${path}.text`)
      return { type: 'text', text: part.text }
    case 'image_url':
    case 'image':
      return imageOf(part, path)
    case 'input_audio':
    case 'file':
      return part
    default:
      throw invalid(`${path}.type`, 'must be one of ["text","image_url","image","input_audio","file"]')
  }
}

/** Accepts an image as a URL, a data URL, or bare base64 with its media type in another field. */
const imageOf = (part: WireObject, path: string): WireObject => {
  const image = part.image_url ?? part.imageUrl ?? part.image ?? part.url
  const fields = isObject(image) ? image : { url: image, detail: part.detail }
  const url = needText(fields.url, `${path}.image_url`)
  const type = needMediaType(textOf(part.mime_type ?? part.mimeType) || 'image/png', `${path}.mime_type`)
  const whole = /^(https?|data):/i.test(url) ? url : `data:${type};base64,${url}`
  return { type: 'image_url', image_url: given({ url: whole, detail: fields.detail }) }
}

const callOf = (call: WireObject, path: string): WireObject => {
  const { name, arguments: given } = objectOf(call.function)
  return {
    id: needText(call.id, `${path}.id`),
    type: 'function',
    function: {
      name: needText(name, `${path}.function.name`),
      arguments: typeof given === 'string' ? given : JSON.stringify(given ?? {}),
    },
  }
}

/** Accepts a function as in OpenAI's chat completions, or without the wrapping object. */
const toolOf = (tool: WireObject, at: number): WireObject => {
  const path = `tools[${at}]`
  if (tool.type !== undefined && tool.type !== 'function') throw invalid(`${path}.type`, 'must be function')
  const fields = isObject(tool.function) ? tool.function : tool
  const { description, parameters, strict } = fields
  if (parameters !== undefined && !isObject(parameters)) throw invalid(`${path}.function.parameters`, 'must be object')
  const name = needText(fields.name, `${path}.function.name`)
  return { type: 'function', function: given({ name, description, parameters, strict }) }
}

const choiceOf = (choice: unknown, path: string): unknown => {
  if (choice === undefined || choice === null) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  const { name, function: named } = objectOf(choice)
  const chosen = textOf(objectOf(named).name ?? name)
  if (chosen === '') throw invalid(path, 'must be auto, none, required, or name a function')
  return { type: 'function', function: { name: chosen } }
}

const formatOf = (format: unknown, path: string): unknown => {
  if (format === undefined || format === null || format === 'text') return undefined
  if (format === 'json' || format === 'json_object') return { type: 'json_object' }
  const fields = objectOf(format)
  if (fields.type === 'text' || fields.type === 'json_object') return { type: fields.type }
  const schema = fields.json_schema ?? fields.jsonSchema
  if (fields.type !== 'json_schema' || !isObject(schema)) {
    throw invalid(path, 'must be text, json, or an object with type json_schema and its json_schema')
  }
  return { type: 'json_schema', json_schema: schema }
}
