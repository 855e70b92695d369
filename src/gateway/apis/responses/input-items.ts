import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { newId } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { given, invalid, needText } from '../chat-parts.ts'
import { customArguments } from './caller-tools.ts'
import { summaryMessage } from './context/summary-item.ts'

/** A validated item of a conversation in the Responses API, with an id. */
export type ResponseItem = WireObject & { readonly id: string; readonly type: string }

/**
 * Validates the input of a request and returns it as items.
 * @throws {ServiceError} `invalid_field`, `missing_field`, `bad_request`
 */
export const inputItems = (
  input: string | readonly WireObject[] | null | undefined,
  name = 'input',
): readonly ResponseItem[] => {
  if (input === null || input === undefined) return []
  if (typeof input === 'string') return [messageItem({ role: 'user', content: input }, name)]
  return input.map((item, at) => inputItem(item, `${name}[${at}]`))
}

const inputItem = (item: WireObject, path: string): ResponseItem => {
  switch (item.type ?? 'message') {
    case 'message':
      return messageItem(item, path)
    case 'function_call':
    case 'custom_tool_call':
      return callItem(item, path)
    case 'function_call_output':
    case 'custom_tool_call_output':
      return outputItem(item, path)
    case 'reasoning':
    case 'web_search_call':
    case 'file_search_call':
    case 'code_interpreter_call':
    case 'image_generation_call':
    case 'tool_search_call':
      return { ...item, id: textOf(item.id) || newId('rs'), type: textOf(item.type) }
    case 'mcp_list_tools':
    case 'mcp_call':
    case 'mcp_approval_request':
    case 'mcp_approval_response':
      return remoteItem(item, path)
    case 'compaction':
      return compactionItem(item, path)
    default:
      throw new ServiceError('bad_request', { param: `${path}.type`, message: `${path}.type is not supported here.` })
  }
}

/** Validates an item of a remote (MCP) server: listed tools, a call, or an approval request or response. */
const remoteItem = (item: WireObject, path: string): ResponseItem => {
  const type = textOf(item.type)
  if (type === 'mcp_approval_response') {
    needText(item.approval_request_id, `${path}.approval_request_id`)
    if (typeof item.approve !== 'boolean') throw invalid(`${path}.approve`, 'must be boolean')
  } else needText(item.server_label, `${path}.server_label`)
  if (type === 'mcp_call' || type === 'mcp_approval_request') needText(item.name, `${path}.name`)
  return { ...item, id: textOf(item.id) || newId('mcpi'), type }
}

/** Decodes the summary during validation, so that an item of another server is refused with its path. */
const compactionItem = (item: WireObject, path: string): ResponseItem => {
  const checked = { ...item, id: textOf(item.id) || newId('cmp'), type: 'compaction' }
  summaryMessage(checked, path)
  return checked
}

const roles = ['user', 'assistant', 'system', 'developer']

const messageItem = (item: WireObject, path: string): ResponseItem => {
  const role = needText(item.role, `${path}.role`)
  if (!roles.includes(role)) throw invalid(`${path}.role`, `must be one of ${JSON.stringify(roles)}`)
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  const content =
    typeof item.content === 'string'
      ? [{ type, text: item.content, ...(role === 'assistant' && { annotations: [] }) }]
      : partsOf(item.content, `${path}.content`)
  return { id: textOf(item.id) || newId('msg'), type: 'message', status: 'completed', role, content }
}

const partsOf = (content: unknown, path: string): readonly WireObject[] => {
  if (!Array.isArray(content)) throw invalid(path, 'must be string or array')
  return content.map((part, at) => partOf(objectOf(part), `${path}[${at}]`))
}

const partOf = (part: WireObject, path: string): WireObject => {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      if (typeof part.text !== 'string') throw invalid(`${path}.text`, 'must be string')
      return part
    case 'refusal':
      return { type: 'refusal', refusal: textOf(part.refusal) }
    case 'input_image':
      refuseFileId(part, path)
      return { ...part, image_url: needText(part.image_url, `${path}.image_url`) }
    case 'input_file':
      refuseFileId(part, path)
      if (part.file_url !== undefined && part.file_url !== null)
        throw unsupported(`${path}.file_url`, 'files are not fetched; send file_data')
      return { ...part, file_data: needText(part.file_data, `${path}.file_data`) }
    default:
      throw invalid(`${path}.type`, 'must be one of ["input_text","input_image","input_file","output_text","refusal"]')
  }
}

const refuseFileId = (part: WireObject, path: string): void => {
  if (part.file_id !== undefined && part.file_id !== null)
    throw unsupported(
      `${path}.file_id`,
      'files of /v1/files are for vector stores and batches; send the content as file_data or image_url',
    )
}

const unsupported = (param: string, why: string): ServiceError =>
  new ServiceError('bad_request', { param, message: `${param} is not supported: ${why}.` })

const callItem = (item: WireObject, path: string): ResponseItem => ({
  id: textOf(item.id) || newId(isCustom(item) ? 'ctc' : 'fc'),
  type: textOf(item.type),
  status: 'completed',
  call_id: needText(item.call_id, `${path}.call_id`),
  name: needText(item.name, `${path}.name`),
  ...given({ namespace: item.namespace }),
  ...(isCustom(item) ? { input: textOf(item.input) } : { arguments: textOf(item.arguments) }),
})

const isCustom = ({ type }: WireObject): boolean => type === 'custom_tool_call'

const outputItem = (item: WireObject, path: string): ResponseItem => ({
  id: textOf(item.id) || newId('fco'),
  type: textOf(item.type),
  status: 'completed',
  call_id: needText(item.call_id, `${path}.call_id`),
  output: typeof item.output === 'string' ? item.output : partsOf(item.output, `${path}.output`),
})

/**
 * Converts items to messages of chat completions. Tool calls are added to the assistant message that made them, and
 * their outputs follow it, wherever the items have them: models refuse anything between. Images and files in tool
 * outputs follow the outputs as a user message; reasoning and searches are left out.
 *
 * @throws {ServiceError} `bad_request` when a call has no output, or an output has no call.
 */
export const messagesOf = (items: readonly ResponseItem[]): readonly WireObject[] => {
  const outputs = outputsOf(items)
  const messages: WireObject[] = []
  /** Outputs of the calls of the last message. */
  let due: ResponseItem[] = []
  const answer = (): void => {
    const shown = due.flatMap(mediaOf)
    messages.push(...due.map(toolMessage), ...(shown.length > 0 ? [{ role: 'user', content: shown }] : []))
    due = []
  }
  for (const item of items) {
    if (isCall(item)) {
      addCall(messages, item)
      const output = outputs.get(item)
      if (output !== undefined) due.push(output)
    } else if (due.length > 0 && item.role === 'assistant') addText(messages, item)
    else {
      const made = messagesIn(item)
      if (made.length > 0 || isOutput(item)) answer()
      messages.push(...made)
    }
  }
  answer()
  return messages
}

/** The messages of an item that is neither a call nor the text beside one. */
const messagesIn = (item: ResponseItem): readonly WireObject[] => {
  if (item.type === 'message') return [messageOf(item)]
  if (item.type === 'compaction') return [messageOf(summaryMessage(item, 'input'))]
  return item.type === 'mcp_call' ? remoteCall(item) : []
}

/** Converts the call of a remote tool to the call and its result. */
const remoteCall = ({
  id,
  server_label,
  name,
  arguments: written,
  output,
  error,
}: ResponseItem): readonly WireObject[] => {
  const made = { name: `${textOf(server_label)}__${textOf(name)}`.slice(0, 64), arguments: textOf(written) }
  return [
    { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: made }] },
    { role: 'tool', tool_call_id: id, content: textOf(output) || `The call failed. ${textOf(error)}` },
  ]
}

const isCall = ({ type }: ResponseItem): boolean => type === 'function_call' || type === 'custom_tool_call'

const isOutput = ({ type }: ResponseItem): boolean =>
  type === 'function_call_output' || type === 'custom_tool_call_output'

/** Images and files in a tool output: tool messages can only have text. */
const mediaOf = ({ output }: ResponseItem): readonly WireObject[] =>
  arrayOf(output)
    .map(objectOf)
    .filter(({ type }) => type === 'input_image' || type === 'input_file')
    .map(chatPart)

/** The output of each call. @throws {ServiceError} `bad_request` */
const outputsOf = (items: readonly ResponseItem[]): ReadonlyMap<ResponseItem, ResponseItem> => {
  const outputs = new Map<ResponseItem, ResponseItem>()
  const open = new Map<string, ResponseItem>()
  for (const item of items) {
    const id = textOf(item.call_id)
    if (isCall(item)) open.set(id, item)
    else if (isOutput(item)) {
      const call = open.get(id)
      if (call === undefined) throw unpaired(`No function call has the call_id ${id}.`)
      outputs.set(call, item)
      open.delete(id)
    }
  }
  const [lacking] = open.keys()
  if (lacking !== undefined) throw unpaired(`The function call ${lacking} has no output.`)
  return outputs
}

const unpaired = (message: string): ServiceError => new ServiceError('bad_request', { param: 'input', message })

const messageOf = ({ role, content }: ResponseItem): WireObject => {
  const parts = arrayOf(content).map(objectOf)
  if (role === 'assistant') return { role, content: plainText(parts) }
  return { role: role === 'user' ? 'user' : 'system', content: chatContent(parts) }
}

/** A single text stays a string, since not every server accepts lists of parts. */
const chatContent = (parts: readonly WireObject[]): unknown => {
  const [only, ...others] = parts
  if (others.length === 0 && only !== undefined && 'text' in only) return only.text
  return parts.map(chatPart)
}

const chatPart = (part: WireObject): WireObject => {
  switch (part.type) {
    case 'input_image':
      return { type: 'image_url', image_url: given({ url: part.image_url, detail: part.detail }) }
    case 'input_file':
      return { type: 'file', file: given({ filename: part.filename, file_data: part.file_data }) }
    default:
      return { type: 'text', text: textOf(part.text ?? part.refusal) }
  }
}

const plainText = (parts: readonly WireObject[]): string =>
  parts.map(({ text, refusal }) => textOf(text ?? refusal)).join('')

const addCall = (messages: WireObject[], item: ResponseItem): void => {
  const { call_id, name } = item
  const text = isCustom(item) ? customArguments(item.input) : item.arguments
  const call = { id: call_id, type: 'function', function: { name, arguments: text } }
  const last = messages.at(-1)
  if (last?.role === 'assistant') {
    messages[messages.length - 1] = {
      ...last,
      content: last.content || null,
      tool_calls: [...arrayOf(last.tool_calls), call],
    }
  } else messages.push({ role: 'assistant', content: null, tool_calls: [call] })
}

/** Adds what the model wrote after a call to the message that has the call. */
const addText = (messages: WireObject[], item: ResponseItem): void => {
  const last = messages.at(-1)
  if (last === undefined) return
  const text = textOf(last.content) + plainText(arrayOf(item.content).map(objectOf))
  messages[messages.length - 1] = { ...last, content: text || null }
}

const toolMessage = ({ call_id, output }: ResponseItem): WireObject => ({
  role: 'tool',
  tool_call_id: call_id,
  content: typeof output === 'string' ? output : plainText(arrayOf(output).filter(isObject)),
})
