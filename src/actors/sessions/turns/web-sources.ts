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
  readonly before: number
  readonly message: ModelMessage
  readonly sources: readonly WebSource[]
}

/** Tools whose outputs are pages, each with an address. */
const toolsOfWeb = new Set(['web_search', 'web_search_preview', 'web_fetch', 'browse'])
/** Outputs are numbered once: the messages of a conversation never change. */
const kept = new WeakMap<ModelMessage, Numbered>()

/**
 * Numbers the pages of a conversation through: each tool counts its results from 1, and a model that searched twice would
 * not say which [1] it means.
 */
export const numberedSources = (messages: readonly ModelMessage[]): SourcedMessages => {
  if (!messages.some(isOfWeb)) return { messages, sources: [] }
  const sources: WebSource[] = []
  const numbered = messages.map((message) => {
    if (!isOfWeb(message)) return message
    const known = kept.get(message)
    const made = known?.before === sources.length ? known : numberedFrom(message, sources.length)
    kept.set(message, made)
    sources.push(...made.sources)
    return made.message
  })
  return { messages: numbered, sources }
}

const isOfWeb = (message: ModelMessage): boolean => message.role === 'tool' && toolsOfWeb.has(message.name)

const numberedFrom = (message: ModelMessage, before: number): Numbered => {
  const output = parsed(message.content)
  if (!isObject(output) || output.untrusted !== true) return { before, message, sources: [] }
  const pages = (Array.isArray(output.results) ? output.results : [output]).filter(isPage)
  if (pages.length === 0) return { before, message, sources: [] }
  const results = pages.map((page, at) => ({ ...page, n: before + at + 1 }))
  const [first] = results
  const shown = Array.isArray(output.results) ? { ...output, results } : { ...first }
  return {
    before,
    message: { ...message, content: JSON.stringify(shown) },
    sources: pages.map(({ url, title }) => ({ url: text(url), title: text(title) })),
  }
}

const isPage = (value: Json): value is JsonObject => isObject(value) && typeof value.url === 'string'

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
  for (const message of messages.toReversed()) {
    if (left === 0) return length
    if (message.role === 'tool') continue
    if (message.role !== 'assistant' || message.toolCalls.length === 0) return null
    length += message.content.length
    left -= 1
  }
  return left === 0 ? length : null
}
