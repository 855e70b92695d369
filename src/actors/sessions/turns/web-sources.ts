import type { ModelMessage } from '#gateway/call/provider-port.ts'
import { isObject } from '#runtime/index.ts'
import type { Json, JsonObject } from '#storage/index.ts'

/** A page that a web tool brought into a conversation; a model cites it by its number, as in [2]. */
export type WebSource = { readonly url: string; readonly title: string }

/** Messages for a model, and the sources numbered in them, from 1. */
export interface SourcedMessages {
  readonly messages: readonly ModelMessage[]
  readonly sources: readonly WebSource[]
}

interface Numbered {
  readonly message: ModelMessage
  readonly sources: readonly WebSource[]
}

/** Numbering state of the first messages of an array. */
interface NumberedList {
  count: number
  /** The last numbered message. If the array has another message at that place, the state does not apply to it. */
  last: ModelMessage | undefined
  /** Null while no page was found: the messages are unchanged. */
  messages: ModelMessage[] | null
  readonly sources: WebSource[]
}

/** Tools whose outputs are pages, each with an address. */
const toolsOfWeb = new Set(['web_search', 'web_search_preview', 'web_fetch', 'browse'])
/** Keyed by array: a conversation only grows, so each output is numbered once. */
const kept = new WeakMap<readonly ModelMessage[], NumberedList>()

/**
 * Numbers the pages of a conversation consecutively. Each tool counts its results from 1, so after two searches a
 * model's [1] would be ambiguous. An array that has grown returns the earlier result, extended.
 */
export const numberedSources = (messages: readonly ModelMessage[]): SourcedMessages => {
  const known = numberedList(messages)
  for (; known.count < messages.length; known.count++) {
    const message = messages[known.count]
    if (message !== undefined) take(known, messages, message)
  }
  return { messages: known.messages ?? messages, sources: [...known.sources] }
}

const numberedList = (messages: readonly ModelMessage[]): NumberedList => {
  const known = kept.get(messages)
  if (known !== undefined && messages[known.count - 1] === known.last) return known
  const made: NumberedList = { count: 0, last: undefined, messages: null, sources: [] }
  kept.set(messages, made)
  return made
}

const take = (known: NumberedList, messages: readonly ModelMessage[], message: ModelMessage): void => {
  known.last = message
  if (!isOfWeb(message)) {
    known.messages?.push(message)
    return
  }
  const { message: shown, sources } = numberedFrom(message, known.sources.length)
  known.messages ??= messages.slice(0, known.count)
  known.messages.push(shown)
  known.sources.push(...sources)
}

const isOfWeb = (message: ModelMessage): boolean => message.role === 'tool' && toolsOfWeb.has(message.name)

const numberedFrom = (message: ModelMessage, before: number): Numbered => {
  const output = parsed(message.content)
  if (!isObject(output) || output.untrusted !== true) return { message, sources: [] }
  const pages = (Array.isArray(output.results) ? output.results : [output]).filter(isPage)
  if (pages.length === 0) return { message, sources: [] }
  const results = pages.map((page, at) => ({ ...page, n: before + at + 1 }))
  const [first] = results
  const shown = Array.isArray(output.results) ? { ...output, results } : { ...first }
  return {
    message: { ...message, content: JSON.stringify(shown) },
    sources: pages.map(({ url, title }) => ({ url: text(url), title: text(title) })),
  }
}

/**
 * Only http(s) addresses count as pages: a caller's own tool may have the name of a web tool, and other URLs must not
 * become links.
 */
const isPage = (value: Json): value is JsonObject =>
  isObject(value) && typeof value.url === 'string' && /^https?:\/\//i.test(value.url)

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

const parsed = (content: string): Json => {
  try {
    return JSON.parse(content)
  } catch {
    return null
  }
}

/**
 * Length of the text that a turn has before its next answer; null when a part of the turn was removed from the
 * conversation.
 *
 * @param answers completed model calls of the turn.
 */
export const lengthBefore = (messages: readonly ModelMessage[], answers: number): number | null => {
  let [length, left] = [0, answers]
  // from the end, and only as far as the turn: a conversation may be long
  for (let at = messages.length - 1; at >= 0 && left > 0; at--) {
    const message = messages[at]
    if (message === undefined || message.role === 'tool') continue
    if (message.role !== 'assistant' || message.toolCalls.length === 0) return null
    length += message.content.length
    left -= 1
  }
  return left === 0 ? length : null
}
