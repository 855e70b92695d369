import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'

/** Converts the messages of a chat request to input items of OpenAI's Responses API. */
export const responseItems = (messages: unknown): readonly WireObject[] =>
  arrayOf(messages).flatMap((message) => itemsOf(objectOf(message)))

/** Converts a tool of a chat request to a tool of the Responses API. */
export const responseTool = (tool: unknown): WireObject => {
  const { name, description, parameters, strict } = objectOf(objectOf(tool).function)
  const described = typeof description === 'string' ? { description } : {}
  return { type: 'function', name, ...described, parameters: parameters ?? null, strict: strict ?? false }
}

const itemsOf = ({ role, content, tool_calls, tool_call_id }: WireObject): readonly WireObject[] => {
  if (role === 'tool') return [{ type: 'function_call_output', call_id: tool_call_id, output: wordsOf(content) }]
  if (role !== 'assistant') return [{ role, content: contentOf(content) }]
  const text = wordsOf(content)
  return [
    ...(text === '' ? [] : [{ role, content: text }]),
    ...arrayOf(tool_calls).map((call) => {
      const { id, function: called } = objectOf(call)
      const { name, arguments: written } = objectOf(called)
      return { type: 'function_call', call_id: id, name, arguments: written }
    }),
  ]
}

/** The text of a content, which is a string or a list of parts. */
const wordsOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : arrayOf(content)
        .map((part) => textOf(objectOf(part).text))
        .join('')

const contentOf = (content: unknown): unknown =>
  Array.isArray(content) ? content.map((part) => partOf(objectOf(part))) : content

const partOf = (part: WireObject): WireObject => {
  if (part.type === 'image_url') {
    const { url, detail = 'auto' } = objectOf(part.image_url)
    return { type: 'input_image', image_url: url, detail }
  }
  if (part.type === 'file') return { type: 'input_file', ...objectOf(part.file) }
  return { type: 'input_text', text: textOf(part.text) }
}
