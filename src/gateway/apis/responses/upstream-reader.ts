import { counted } from '#gateway/call/accounting/counted.ts'
import { cacheWrites } from '#gateway/call/accounting/openai-usage.ts'
import type { AnswerEnd } from '#gateway/call/chat-format.ts'
import { streamBroken, streamedFailure } from '#gateway/call/failure.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import type { ChunkWriter } from '#gateway/providers/chunk-writer.ts'
import type { EventReader } from '#gateway/providers/event-decoder.ts'
import { arrayOf, countOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'

/** Converts the events of OpenAI's Responses API to chunks; searches and citations become fields of their deltas. */
export class UpstreamReader implements EventReader {
  readonly #writer: ChunkWriter
  /** Index of each call among the calls, by its position in the output. */
  readonly #calls = new Map<number, number>()
  /** Lengths of the text of the answer, and of that before the part that is being written, in UTF-16 units. */
  #length = 0
  #before = 0
  #end: AnswerEnd | null = null
  #begun = false

  constructor(writer: ChunkWriter) {
    this.#writer = writer
  }

  get done(): boolean {
    return this.#end !== null
  }

  read(event: WireObject): readonly WireObject[] {
    switch (event.type) {
      case 'error':
        throw streamedFailure(event)
      case 'response.failed':
        throw streamedFailure(objectOf(event.response).error)
      case 'response.completed':
      case 'response.incomplete':
        return this.#over(objectOf(event.response))
      default: {
        const delta = this.#delta(event)
        return delta === null ? [] : this.#opened([this.#writer.delta(delta)])
      }
    }
  }

  finish() {
    if (this.#end === null) throw streamBroken()
    return { chunks: [], end: this.#end }
  }

  #delta(event: WireObject): WireObject | null {
    switch (event.type) {
      case 'response.output_text.delta':
        this.#length += textOf(event.delta).length
        return { content: textOf(event.delta) }
      case 'response.content_part.added':
        this.#before = this.#length
        return null
      case 'response.refusal.delta':
        return { refusal: textOf(event.delta) }
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        return { reasoning_content: textOf(event.delta) }
      case 'response.output_text.annotation.added':
        return annotationsOf([event.annotation], this.#before)
      case 'response.function_call_arguments.delta':
        return this.#arguments(event)
      case 'response.output_item.added':
        return this.#item(objectOf(event.item), countOf(event.output_index))
      case 'response.output_item.done':
        return searchOf(objectOf(event.item)) ?? hostedOf(objectOf(event.item))
      default:
        return null
    }
  }

  #item(item: WireObject, place: number): WireObject | null {
    if (item.type !== 'function_call') return searchOf(item)
    const index = this.#calls.size
    this.#calls.set(place, index)
    const called = { name: textOf(item.name), arguments: '' }
    return { tool_calls: [{ index, id: textOf(item.call_id), type: 'function', function: called }] }
  }

  #arguments(event: WireObject): WireObject | null {
    const index = this.#calls.get(countOf(event.output_index))
    return index === undefined ? null : { tool_calls: [{ index, function: { arguments: textOf(event.delta) } }] }
  }

  #opened(chunks: readonly WireObject[]): readonly WireObject[] {
    if (this.#begun) return chunks
    this.#begun = true
    return [this.#writer.delta({ role: 'assistant', content: '' }), ...chunks]
  }

  #over(response: WireObject): readonly WireObject[] {
    this.#end = endOf(response, this.#writer.model, this.#calls.size > 0)
    this.#writer.model = this.#end.model
    const { usage, finishReason } = this.#end
    const last = this.#writer.finish(finishReason)
    return this.#opened(usage === null ? [last] : [last, this.#writer.usage(usage)])
  }
}

/** Returns how a response ended, in the form of chat completions. */
export const endOf = (response: WireObject, requestedModel: string, hasCalls: boolean): AnswerEnd => ({
  model: textOf(response.model) || requestedModel,
  usage: usageOf(response),
  finishReason:
    finishReasons[textOf(objectOf(response.incomplete_details).reason)] ?? (hasCalls ? 'tool_calls' : 'stop'),
})

const finishReasons: Readonly<Record<string, string>> = {
  max_output_tokens: 'length',
  content_filter: 'content_filter',
}

const usageOf = (response: WireObject): TokenUsage | null => {
  const { usage } = response
  if (usage === undefined || usage === null) return null
  const fields = objectOf(usage)
  return counted((count) => ({
    inputTokens: count(fields.input_tokens),
    outputTokens: count(fields.output_tokens),
    cachedTokens: count(objectOf(fields.input_tokens_details).cached_tokens),
    ...cacheWrites(objectOf(fields.input_tokens_details), count),
    reasoningTokens: count(objectOf(fields.output_tokens_details).reasoning_tokens),
    ...searchesOf(response),
  }))
}

/** Searches are charged for; opening the pages that they found is not. */
const searchesOf = ({ output, tools }: WireObject): Pick<TokenUsage, 'searches' | 'previewSearches'> => {
  const searches = arrayOf(output)
    .map(objectOf)
    .filter(({ type, action }) => type === 'web_search_call' && (objectOf(action).type ?? 'search') === 'search').length
  if (searches === 0) return {}
  const isPreview = arrayOf(tools).some((tool) => textOf(objectOf(tool).type).startsWith('web_search_preview'))
  return isPreview ? { previewSearches: searches } : { searches }
}

/** Returns a search item as a delta; null for other items. */
export const searchOf = (item: WireObject): WireObject | null =>
  item.type === 'web_search_call' ? { web_searches: [item] } : null

const convertedTypes: ReadonlySet<unknown> = new Set(['message', 'function_call', 'reasoning', 'web_search_call'])

/**
 * Returns the item of another hosted tool of OpenAI as a delta; null for items that have their own fields in a delta.
 */
export const hostedOf = (item: WireObject): WireObject | null =>
  convertedTypes.has(item.type) || textOf(item.type) === '' ? null : { hosted_items: [item] }

/** Converts citations to the form of OpenAI's chat completions. @param before length of the text before their part. */
export const annotationsOf = (annotations: readonly unknown[], before: number): WireObject => ({
  annotations: annotations.map(objectOf).flatMap(({ type, ...fields }): readonly WireObject[] => {
    if (type === 'file_citation') return [{ type, file_citation: fields }]
    return type === 'url_citation' ? [{ type, url_citation: { ...fields, ...placesIn(fields, before) } }] : []
  }),
})

const placesIn = ({ start_index, end_index }: WireObject, before: number): WireObject => ({
  ...(typeof start_index === 'number' && { start_index: start_index + before }),
  ...(typeof end_index === 'number' && { end_index: end_index + before }),
})
