import { counted } from '#gateway/call/accounting/counted.ts'
import { charged } from '#gateway/call/accounting/openai-usage.ts'
import type { AnswerEnd } from '#gateway/call/chat-format.ts'
import { streamBroken, streamedFailure } from '#gateway/call/failure.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { ChunkWriter } from '../chunk-writer.ts'
import type { EventReader } from '../event-decoder.ts'

/**
 * Translates the events of Perplexity's Agent API into chunks. Text is streamed; tool calls, citations and search
 * results arrive with the last event, which has the whole response. The last chunk carries `citations` and
 * `search_results`, as in Perplexity's chat completions.
 */
export class PerplexityReader implements EventReader {
  readonly #writer: ChunkWriter
  /** Finished output items, used when the last event does not repeat them. */
  readonly #items: WireObject[] = []
  #begun = false
  #spoken = false
  #end: AnswerEnd | null = null

  constructor(writer: ChunkWriter) {
    this.#writer = writer
  }

  get done(): boolean {
    return this.#end !== null
  }

  read(event: WireObject): readonly WireObject[] {
    const { type, delta, thought, item, response } = event
    switch (type) {
      case 'error':
        throw streamedFailure(event.error ?? event)
      case 'response.failed':
        throw streamedFailure(event.error ?? objectOf(response).error)
      case 'response.created':
        this.#head(objectOf(response))
        return []
      case 'response.output_text.delta':
        this.#spoken ||= textOf(delta) !== ''
        return this.#deltas({ content: textOf(delta) })
      case 'response.output_item.done':
        this.#items.push(objectOf(item))
        return []
      case 'response.completed':
      case 'response.incomplete':
        return this.#over(objectOf(response))
      default:
        return textOf(thought) === '' ? [] : this.#deltas({ reasoning_content: `${textOf(thought)}\n` })
    }
  }

  finish(): ReturnType<EventReader['finish']> {
    if (this.#end === null) throw streamBroken()
    return { chunks: [], end: this.#end }
  }

  #head({ id, model }: WireObject): void {
    if (textOf(id) !== '') this.#writer.id = textOf(id)
    if (textOf(model) !== '') this.#writer.model = textOf(model)
  }

  #deltas(...deltas: readonly WireObject[]): readonly WireObject[] {
    const begin = this.#begun ? [] : [this.#writer.delta({ role: 'assistant', content: '' })]
    this.#begun = true
    return [...begin, ...deltas.map((delta) => this.#writer.delta(delta))]
  }

  #over(response: WireObject): readonly WireObject[] {
    this.#head(response)
    const items = arrayOf(response.output).map(objectOf)
    const output = items.length === 0 ? this.#items : items
    const calls = callsOf(output)
    const usage = isObject(response.usage) ? usageOf(response.usage) : null
    const finishReason = reasonOf(response, calls.length > 0)
    this.#end = { model: this.#writer.model, usage, finishReason }
    const last = { ...this.#writer.finish(finishReason), ...foundIn(output) }
    return [
      ...this.#deltas(...this.#rest(output), ...(calls.length === 0 ? [] : [{ tool_calls: calls }])),
      ...(usage === null ? [last] : [last, this.#writer.usage(usage)]),
    ]
  }

  /** The text, unless it was streamed before, and its citations. */
  #rest(output: readonly WireObject[]): readonly WireObject[] {
    const parts = output
      .filter(({ type }) => type === 'message')
      .flatMap(({ content }) => arrayOf(content).map(objectOf))
    const content = this.#spoken ? '' : parts.map(({ text }) => textOf(text)).join('')
    const annotations = parts.flatMap((part) => arrayOf(part.annotations).map(objectOf)).flatMap(citationOf)
    return [...(content === '' ? [] : [{ content }]), ...(annotations.length === 0 ? [] : [{ annotations }])]
  }
}

const callsOf = (output: readonly WireObject[]): readonly WireObject[] =>
  output
    .filter(({ type }) => type === 'function_call')
    .map(({ call_id, name, arguments: written }, index) => ({
      ...{ index, id: call_id, type: 'function' },
      function: { name, arguments: textOf(written) },
    }))

const citationOf = ({ type, ...fields }: WireObject): readonly WireObject[] =>
  type === 'url_citation' ? [{ type, url_citation: fields }] : []

/** The search results, and the list of their URLs. */
const foundIn = (output: readonly WireObject[]): WireObject => {
  const found = output
    .filter(({ type }) => type === 'search_results')
    .flatMap(({ results }) => arrayOf(results).map(objectOf))
  if (found.length === 0) return {}
  const addresses = found.map(({ url }) => textOf(url)).filter((url) => url !== '')
  return { citations: [...new Set(addresses)], search_results: found }
}

const reasonOf = ({ status, incomplete_details }: WireObject, hasCalls: boolean): string => {
  if (objectOf(incomplete_details).reason === 'content_filter') return 'content_filter'
  if (status === 'incomplete') return 'length'
  return hasCalls ? 'tool_calls' : 'stop'
}

const usageOf = (usage: WireObject): TokenUsage | null => {
  const { cache_read, cached_tokens } = objectOf(usage.input_tokens_details)
  const { currency, total_cost } = objectOf(usage.cost)
  return counted((count) => ({
    inputTokens: count(usage.input_tokens),
    outputTokens: count(usage.output_tokens),
    cachedTokens: count(cache_read ?? cached_tokens),
    reasoningTokens: count(objectOf(usage.output_tokens_details).reasoning_tokens),
    ...(currency === 'USD' && charged(total_cost)),
  }))
}
