import type { ModelMessage } from '#gateway/call/provider-port.ts'
import { isObject } from '#runtime/schema.ts'
import type { Json, JsonObject } from '#storage/ports.ts'

/** A page that a tool of the web brought into a conversation; a model names it by its number, as in [2]. */
export type WebSource = { readonly url: string; readonly title: string }

/** Messages for a model, and the sources that they number, from 1. */
export interface SourcedMessages {
  readonly messages: readonly ModelMessage[]
  readonly sources: readonly WebSource[]
}

interface Numbered {
  readonly message: ModelMessage
  readonly sources: readonly WebSource[]
}

/** What is numbered of a list's first messages. */
interface NumberedList {
  count: number
  /** The last of them: a list that has another one there is not the list that was numbered. */
  last: ModelMessage | undefined
  /** null while no page was found: the messages are as they were. */
  messages: ModelMessage[] | null
  readonly sources: WebSource[]
}

/** Tools whose outputs are pages, each with an address. */
const toolsOfWeb = new Set(['web_search', 'web_search_preview', 'web_fetch', 'browse'])
/** A conversation only grows: each output is numbered once. */
const kept = new WeakMap<readonly ModelMessage[], NumberedList>()

/**
 * Numbers the pages of a conversation through: each tool counts its results from 1, and a model that searched twice would
 * not say which [1] it means. A list that has grown gives the list of before, with what is new.
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

/** A caller's own tool may answer under the name of one of the web: what is no address of a page is cited by no link. */
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
 * Length of the text that a turn has before its next answer; null when the conversation no longer says, since a part of the
 * turn was left out of it.
 *
 * @param answers model calls of the turn that are over.
 */
export const lengthBefore = (messages: readonly ModelMessage[], answers: number): number | null => {
  let [length, left] = [0, answers]
  // from the end, and no further than the turn goes: a conversation is long
  for (let at = messages.length - 1; at >= 0 && left > 0; at--) {
    const message = messages[at]
    if (message === undefined || message.role === 'tool') continue
    if (message.role !== 'assistant' || message.toolCalls.length === 0) return null
    length += message.content.length
    left -= 1
  }
  return left === 0 ? length : null
}
