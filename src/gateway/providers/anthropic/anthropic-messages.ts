import { nestsTooDeep } from '#outgoing/json-depth.ts'
import { arrayOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { type ContentPart, contentPart, contentParts } from '../content-parts.ts'
import { plainCallId } from '../tool-call-id.ts'
import { citationsOf, contentBlocks, isThought, ownBlockField, ownCitations, unplaced } from './anthropic-citations.ts'

/** A conversation in Anthropic's format. */
export interface AnthropicDialogue {
  readonly system: readonly WireObject[]
  readonly messages: readonly AnthropicTurn[]
}

/** Consecutive messages of one role, merged into one turn. */
interface AnthropicTurn {
  readonly role: 'user' | 'assistant'
  readonly content: WireObject[]
}

/**
 * Converts messages to Anthropic's format. Instructions are separate from the dialogue, tool results belong to the
 * user, and consecutive messages of one role are merged into one turn. When there are only instructions they are sent
 * as the user's message, since the format requires one.
 *
 * @throws {ServiceError} `invalid_field`
 */
export function anthropicDialogue(messages: readonly unknown[]): AnthropicDialogue {
  const system: WireObject[] = []
  const turns: AnthropicTurn[] = []
  for (const [place, message] of messages.entries()) {
    const at = `messages[${place}]`
    const fields = objectOf(message)
    if (fields.role === 'system' || fields.role === 'developer') system.push(...instructionsOf(fields, at))
    else say(turns, fields.role === 'assistant' ? 'assistant' : 'user', blocksOf(fields, at))
  }
  if (turns.length === 0) return { system: [], messages: [{ role: 'user', content: system }] }
  return { system, messages: withoutSpaceAtEnd(turns) }
}

function say(turns: AnthropicTurn[], role: AnthropicTurn['role'], blocks: readonly WireObject[]): void {
  if (blocks.length === 0) return
  const last = turns.at(-1)
  if (last?.role === role) last.content.push(...blocks)
  else turns.push({ role, content: [...blocks] })
}

function instructionsOf({ content }: WireObject, at: string): WireObject[] {
  return contentParts(content, `${at}.content`).map((part) => {
    if (part.kind !== 'text') throw invalidField(`${at}.content`, 'Instructions must be text.')
    return block(part.part, { type: 'text', text: part.text })
  })
}

function blocksOf(message: WireObject, at: string): WireObject[] {
  const parts = partBlocks(message.content, `${at}.content`)
  switch (message.role) {
    case 'user':
      return parts
    case 'assistant':
      return [...answerBlocks(message, parts), ...arrayOf(message.tool_calls).map(callBlock)]
    case 'tool': {
      const result = { type: 'tool_result', tool_use_id: callIdOf(message.tool_call_id), content: parts }
      return [block(message, message.is_error === true ? { ...result, is_error: true } : result)]
    }
    default:
      throw invalidField(`${at}.role`, 'A role must be one of system, developer, user, assistant and tool.')
  }
}

/** An answer in the order in which it was written. */
function answerBlocks(message: WireObject, parts: readonly WireObject[]): readonly WireObject[] {
  const { content, citations } = message
  const thoughts = thoughtsOf(message)
  if (typeof content === 'string') return contentBlocks(content, ownCitations(citations), thoughts)
  return [...thoughts.map(unplaced), ...parts]
}

/** The blocks of a content; a block that has several parts is put together again. */
function partBlocks(content: unknown, at: string): WireObject[] {
  if (!Array.isArray(content)) return contentParts(content, at).map(partBlock)
  const blocks: WireObject[] = []
  let open: WireObject[] = []
  for (const [place, part] of content.entries()) {
    const own = objectOf(part)[ownBlockField]
    const inner = contentPart(part, `${at}[${place}]`).map(partBlock)
    if (!isObject(own)) blocks.push(...inner)
    else if (own.type === 'more') open.push(...inner)
    else {
      open = inner
      blocks.push(ownBlock(own, inner, `${at}[${place}].${ownBlockField}.type`))
    }
  }
  return blocks
}

/** A caller of chats may send such a block as well: one of a text would pass by all that reads texts. */
function ownBlock(own: WireObject, inner: WireObject[], at: string): WireObject {
  if (own.type === 'search_result') return { ...own, content: inner }
  if (isThought(own)) return own
  if (own.type === 'tool_reference') return { type: own.type, tool_name: textOf(inner[0]?.text) }
  if (own.type !== 'document') throw invalidField(at, 'Send such a block to /v1/messages.')
  const source = objectOf(own.source)
  if (source.type === 'content') return { ...own, source: { ...source, content: inner } }
  const [only = {}] = inner
  return source.type === 'text'
    ? { ...own, source: { ...source, data: textOf(only.text) } }
    : { ...only, ...own, source: only.source }
}

function partBlock(part: ContentPart): WireObject {
  if (part.kind === 'text') return block(part.part, { type: 'text', text: part.text, ...citationsOf(part.part) })
  if (part.kind === 'audio') throw invalidField(`${part.at}.type`, 'This provider does not accept audio.')
  if (part.kind === 'image') return block(part.part, { type: 'image', source: bytesOrUrl(part) })
  const title = part.filename === null ? {} : { title: part.filename }
  const { citations, context } = part.part
  const cited = { ...(isObject(citations) && { citations }), ...(typeof context === 'string' && { context }) }
  return block(part.part, { type: 'document', source: documentSource(part), ...title, ...cited })
}

type MediaPart = Exclude<ContentPart, { kind: 'text' }>

const bytesOrUrl = ({ source }: MediaPart): WireObject =>
  source.kind === 'url'
    ? { type: 'url', url: source.url }
    : { type: 'base64', media_type: source.mimeType, data: source.data }

function documentSource(part: MediaPart): WireObject {
  const { source } = part
  if (source.kind !== 'base64' || !source.mimeType.startsWith('text/')) return bytesOrUrl(part)
  return { type: 'text', media_type: 'text/plain', data: Buffer.from(source.data, 'base64').toString('utf8') }
}

/**
 * Thinking blocks and provider tool blocks of earlier responses, as the gateway returned them; Anthropic requires them
 * back unchanged. Thinking without a signature is dropped, as is what is no such block.
 */
const thoughtsOf = ({ thinking_blocks }: WireObject): WireObject[] =>
  arrayOf(thinking_blocks)
    .filter(isObject)
    .filter((each) => isThought(each) && (each.type !== 'thinking' || textOf(each.signature) !== ''))

function callBlock(call: unknown): WireObject {
  const { id, function: named } = objectOf(call)
  const { name, arguments: text } = objectOf(named)
  const fields = { type: 'tool_use', id: callIdOf(id), name: textOf(name), input: inputOf(textOf(text)) }
  return block(objectOf(call), fields)
}

/** The format allows only letters, digits, `_` and `-` in ids. */
const callIdOf = (id: unknown): string => plainCallId(textOf(id)).replace(/[^\w-]/g, '_')

/**
 * The format requires an object. Malformed arguments are sent to the model as it wrote them, under
 * `malformed_arguments`.
 */
function inputOf(text: string): WireObject {
  if (text.trim() === '') return {}
  const parsed = nestsTooDeep(text) ? undefined : parseJson(text)
  return isObject(parsed) ? parsed : { malformed_arguments: text }
}

/** Returns the block with the caller's `cache_control`, if set. */
const block = ({ cache_control }: WireObject, fields: WireObject): WireObject =>
  isObject(cache_control) ? { ...fields, cache_control } : fields

/** A prefilled assistant message that the model is to continue may not end in white space. */
function withoutSpaceAtEnd(turns: readonly AnthropicTurn[]): readonly AnthropicTurn[] {
  const last = turns.at(-1)
  const end = last?.content.at(-1)
  if (last?.role !== 'assistant' || end?.type !== 'text') return turns
  const text = textOf(end.text).trimEnd()
  const content = [...last.content.slice(0, -1), ...(text === '' ? [] : [{ ...end, text }])]
  return content.length === 0 ? turns.slice(0, -1) : [...turns.slice(0, -1), { role: last.role, content }]
}
