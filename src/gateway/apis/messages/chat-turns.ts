import { citationsOf, isThought, ownBlockField } from '#gateway/providers/anthropic/anthropic-citations.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { given, invalid, needMediaType, needText } from '../chat-parts.ts'

type Turns = BodyOf<'messages.create'>['messages']

/**
 * Converts the turns of a conversation to messages of chat completions. Tool results become separate messages; tool
 * calls are added to the assistant message.
 *
 * @param own whether the provider's format is Anthropic's: then what only Anthropic can read is kept (thinking, cache
 * marks, citations and what may be cited).
 * @throws {ServiceError} `invalid_field`, `missing_field`, `bad_request` for unsupported blocks.
 */
export const chatTurns = (
  system: string | readonly WireObject[] | null | undefined,
  turns: Turns,
  own: boolean,
): readonly WireObject[] => [
  ...systemOf(system, 'system', own),
  ...turns.flatMap(({ role, content }, at) => {
    const path = `messages[${at}].content`
    if (role === 'system') return systemOf(content, path, own)
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    return role === 'assistant' ? [answerOf(blocks, path, own)] : userTurnOf(blocks, path, own)
  }),
]

const systemOf = (
  system: string | readonly WireObject[] | null | undefined,
  path: string,
  own: boolean,
): readonly WireObject[] => {
  if (system === null || system === undefined || system === '') return []
  if (typeof system === 'string') return [{ role: 'system', content: system }]
  const parts = system.flatMap((block, at) => partsOf(block, `${path}[${at}]`, own))
  return parts.length === 0 ? [] : [{ role: 'system', content: plainOr(parts) }]
}

/** A single text stays a string, since not every server accepts lists of parts. */
const plainOr = (parts: readonly WireObject[]): unknown => {
  const [only, ...others] = parts
  return others.length === 0 && isPlain(only) ? only?.text : parts
}

const isPlain = (part: WireObject | undefined): boolean =>
  part?.type === 'text' && ownFields.every((field) => part[field] === undefined)

/** Fields of a text that a text alone cannot have. */
const ownFields = ['cache_control', 'citations', ownBlockField]

const userTurnOf = (blocks: readonly WireObject[], path: string, own: boolean): readonly WireObject[] => {
  const messages: WireObject[] = []
  const parts: WireObject[] = []
  for (const [at, block] of blocks.entries()) {
    if (block.type !== 'tool_result') parts.push(...partsOf(block, `${path}[${at}]`, own))
    else {
      const { message, images } = resultOf(block, `${path}[${at}]`, own)
      messages.push(message)
      parts.push(...images)
    }
  }
  return parts.length === 0 ? messages : [...messages, { role: 'user', content: plainOr(parts) }]
}

/**
 * Returns a tool result and its images. For other formats than Anthropic's, images are sent outside of the result,
 * which can only have text.
 */
const resultOf = (block: WireObject, path: string, own: boolean) => {
  const { content, is_error } = block
  const listed = typeof content === 'string' ? [{ type: 'text', text: content }] : arrayOf(content).map(objectOf)
  const all = listed.flatMap((each, at) => partsOf(each, `${path}.content[${at}]`, own))
  const images = own ? [] : all.filter(({ type }) => type !== 'text')
  const texts = own ? all : all.filter(({ type }) => type === 'text')
  const text = texts.map((part) => textOf(part.text)).join('')
  const failed = is_error === true && !own ? 'Error: ' : ''
  const tool_call_id = needText(block.tool_use_id, `${path}.tool_use_id`)
  const plain = texts.every(isPlain)
  const kept = own ? { ...markOf(block, own), ...(is_error === true && { is_error }) } : {}
  return { message: { role: 'tool', tool_call_id, content: plain ? failed + text : texts, ...kept }, images }
}

const answerOf = (blocks: readonly WireObject[], path: string, own: boolean): WireObject => {
  const parts: WireObject[] = []
  const calls: WireObject[] = []
  const thoughts: WireObject[] = []
  for (const [at, block] of blocks.entries()) {
    const isPassedOn = isThought(block)
    // what came after a text stays there, since a result has to follow its call
    if (isPassedOn && own && parts.length > 0) parts.push({ type: 'text', text: '', [ownBlockField]: block })
    else if (isPassedOn) thoughts.push(block)
    else if (block.type === 'tool_use') calls.push({ ...callOf(block, `${path}[${at}]`), ...markOf(block, own) })
    else parts.push(...partsOf(block, `${path}[${at}]`, own))
  }
  return {
    role: 'assistant',
    content: parts.length === 0 ? null : plainOr(parts),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(own && thoughts.length > 0 && { thinking_blocks: thoughts }),
  }
}

const callOf = (block: WireObject, path: string): WireObject => ({
  id: needText(block.id, `${path}.id`),
  type: 'function',
  function: { name: needText(block.name, `${path}.name`), arguments: JSON.stringify(block.input ?? {}) },
})

/** Returns the cache mark of a block, for Anthropic only. */
const markOf = ({ cache_control }: WireObject, own: boolean): WireObject =>
  own && isObject(cache_control) ? { cache_control } : {}

/** Converts a block: one of several texts to a part for each of them. */
const partsOf = (block: WireObject, path: string, own: boolean): readonly WireObject[] => {
  if (block.type === 'search_result') return severalOf(block, { path, listed: arrayOf(block.content), own })
  const source = objectOf(block.source)
  const isSeveral = block.type === 'document' && source.type === 'content' && Array.isArray(source.content)
  return own && isSeveral
    ? severalOf(block, { path: `${path}.source`, listed: arrayOf(source.content), own })
    : [partOf(block, path, own)]
}

interface Several {
  readonly path: string
  readonly listed: readonly unknown[]
  readonly own: boolean
}

/** The first part is the block without its texts, which the others continue. */
const severalOf = (block: WireObject, { path, listed, own }: Several): readonly WireObject[] => {
  const parts = listed.map((each, at) => partOf(objectOf(each), `${path}.content[${at}]`, own))
  if (!own) return parts
  const [first = { type: 'text', text: '' }, ...others] = parts
  const { content: _content, ...head } = block
  return [
    { ...first, [ownBlockField]: head },
    ...others.map((part) => ({ ...part, [ownBlockField]: { type: 'more' } })),
  ]
}

const partOf = (block: WireObject, path: string, own: boolean): WireObject => {
  const mark = markOf(block, own)
  switch (block.type) {
    case 'text':
      if (typeof block.text !== 'string') throw invalid(`${path}.text`, 'must be string')
      return { type: 'text', text: block.text, ...mark, ...(own && citationsOf(block)) }
    case 'image':
      return { type: 'image_url', image_url: { url: urlOf(objectOf(block.source), `${path}.source`) }, ...mark }
    case 'document':
      return { ...documentOf(block, path), ...mark, ...(own && citable(block)) }
    case 'tool_reference': {
      // what other models read is the name of a tool that was found, since they have all tools
      const text = needText(block.tool_name, `${path}.tool_name`)
      return { type: 'text', text, ...mark, ...(own && { [ownBlockField]: { type: block.type } }) }
    }
    default:
      throw new ServiceError('bad_request', { param: `${path}.type`, message: `${path}.type is not supported here.` })
  }
}

/** The block of a document that may be cited or is described; nothing for one that is only read. */
const citable = ({ citations, context, title, source, ...block }: WireObject): WireObject => {
  const about = given({ citations, context, title })
  if (!('citations' in about || 'context' in about || (objectOf(source).type === 'text' && 'title' in about))) return {}
  const { data: _data, ...described } = objectOf(source)
  return { [ownBlockField]: { ...block, ...about, source: described } }
}

const documentOf = (block: WireObject, path: string): WireObject => {
  const source = objectOf(block.source)
  if (source.type === 'text') return { type: 'text', text: textOf(source.data) }
  if (source.type === 'content') return { type: 'text', text: contentText(source.content, `${path}.source.content`) }
  const field = source.type === 'url' ? 'file_url' : 'file_data'
  return {
    type: 'file',
    file: given({ filename: block.title ?? 'document.pdf', [field]: urlOf(source, `${path}.source`) }),
  }
}

/** Returns the text of a document that consists of text blocks, or of a single text. */
const contentText = (content: unknown, path: string): string => {
  if (typeof content === 'string') return content
  const texts = arrayOf(content).map(objectOf)
  const other = texts.findIndex(({ type }) => type !== 'text')
  if (other >= 0) throw invalid(`${path}[${other}].type`, 'must be text')
  return texts.map(({ text }) => textOf(text)).join('\n')
}

const urlOf = (source: WireObject, path: string): string => {
  if (source.type === 'url') return needText(source.url, `${path}.url`)
  if (source.type !== 'base64') throw invalid(`${path}.type`, 'must be base64 or url')
  return `data:${needMediaType(source.media_type, `${path}.media_type`)};base64,${needText(source.data, `${path}.data`)}`
}
