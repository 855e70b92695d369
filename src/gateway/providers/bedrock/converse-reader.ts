import type { AnswerEnd } from '#gateway/call/chat-format.ts'
import { refused, streamBroken } from '#gateway/call/failure.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { arrayOf, countOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { AnthropicReader } from '../anthropic/anthropic-reader.ts'
import type { ChunkWriter } from '../chunk-writer.ts'
import type { EventReader } from '../event-decoder.ts'

/** Reasons for which a model stopped, where Anthropic names them differently. */
const stopReasons: Readonly<Record<string, string>> = {
  guardrail_intervened: 'refusal',
  content_filtered: 'refusal',
}

/**
 * Translates the events of ConverseStream, each `{type, …}`, to those of Anthropic's streams, which have the same
 * structure. The end is the metadata: without it the usage is unknown and the answer is not whole.
 */
export class ConverseReader implements EventReader {
  readonly #reader: AnthropicReader
  readonly #open = new Set<unknown>()

  constructor(chunks: ChunkWriter, answerTool: string | null) {
    this.#reader = new AnthropicReader(chunks, answerTool)
  }

  get done(): boolean {
    return this.#reader.done
  }

  read(event: WireObject): readonly WireObject[] {
    return this.#translated(event).flatMap((each) => this.#reader.read(each))
  }

  finish(): { readonly chunks: readonly WireObject[]; readonly end: AnswerEnd } {
    return this.#reader.finish()
  }

  #translated(event: WireObject): readonly WireObject[] {
    const { type, contentBlockIndex: index } = event
    switch (type) {
      case 'messageStart':
        return [{ type: 'message_start', message: {} }]
      case 'contentBlockStart': {
        const { toolUse } = objectOf(event.start)
        return isObject(toolUse) ? [this.#start(index, callBlock(toolUse))] : []
      }
      case 'contentBlockDelta':
        return this.#delta(index, objectOf(event.delta))
      case 'contentBlockStop':
        return [{ type: 'content_block_stop', index }]
      case 'messageStop':
        return [stopOf(textOf(event.stopReason))]
      case 'metadata':
        return [{ type: 'message_delta', usage: usageOf(objectOf(event.usage)) }, { type: 'message_stop' }]
      default:
        return []
    }
  }

  #start(index: unknown, content_block: WireObject): WireObject {
    this.#open.add(index)
    return { type: 'content_block_start', index, content_block }
  }

  /** Only blocks of tools announce themselves. */
  #delta(index: unknown, { text, toolUse, reasoningContent, citation }: WireObject): readonly WireObject[] {
    const reasoning = objectOf(reasoningContent)
    if (reasoning.redactedContent !== undefined)
      return [this.#start(index, { type: 'redacted_thinking', data: reasoning.redactedContent })]
    const kind = isObject(reasoningContent) ? 'thinking' : 'text'
    const started = this.#open.has(index) ? [] : [this.#start(index, { type: kind })]
    return [...started, { type: 'content_block_delta', index, delta: deltaOf({ text, toolUse, citation }, reasoning) }]
  }
}

const deltaOf = ({ text, toolUse, citation }: WireObject, reasoning: WireObject): WireObject => {
  if (text !== undefined) return { type: 'text_delta', text }
  if (isObject(citation)) return { type: 'citations_delta', citation: citationOf(citation) }
  if (isObject(toolUse)) return { type: 'input_json_delta', partial_json: toolUse.input }
  if (reasoning.signature !== undefined) return { type: 'signature_delta', signature: reasoning.signature }
  return { type: 'thinking_delta', thinking: reasoning.text }
}

/** Returns a citation as Anthropic's format has it. */
const citationOf = ({ title, source, sourceContent, location }: WireObject): WireObject => {
  const cited_text = arrayOf(sourceContent)
    .map((each) => textOf(objectOf(each).text))
    .join('')
  const { web, searchResultLocation: result, ...document } = objectOf(location)
  if (isObject(web)) return { type: 'web_search_result_location', cited_text, title, url: web.url }
  if (isObject(result)) {
    const { searchResultIndex: search_result_index, start: start_block_index, end: end_block_index } = result
    const place = { search_result_index, start_block_index, end_block_index }
    return { type: 'search_result_location', cited_text, title, source, ...place }
  }
  const [name = '', place] = Object.entries(document)[0] ?? []
  const { documentIndex: document_index, start, end } = objectOf(place)
  const [type, unit] = documentKinds[name] ?? ['content_block_location', 'block_index']
  const from = { cited_text, document_title: title, document_index }
  return { type, ...from, [`start_${unit}`]: start, [`end_${unit}`]: end }
}

/** Places in documents, and what they are counted in; in chunks unless listed. */
const documentKinds: Readonly<Record<string, readonly [type: string, unit: string]>> = {
  documentChar: ['char_location', 'char_index'],
  documentPage: ['page_location', 'page_number'],
}

const callBlock = ({ toolUseId, name, input = {} }: WireObject): WireObject => ({
  ...{ type: 'tool_use', id: toolUseId, name, input },
})

const stopOf = (reason: string): WireObject => {
  if (reason.startsWith('malformed_'))
    throw refused(new ModelError('provider_error', `The model's answer is malformed (${reason}).`))
  return { type: 'message_delta', delta: { stop_reason: stopReasons[reason] ?? reason } }
}

/** Converse counts like Anthropic: its input has no tokens of the cache. */
const usageOf = (usage: WireObject): WireObject => {
  const long = arrayOf(usage.cacheDetails)
    .map(objectOf)
    .filter(({ ttl }) => ttl === '1h')
    .reduce((sum, { inputTokens }) => sum + countOf(inputTokens), 0)
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cacheReadInputTokens,
    cache_creation_input_tokens: usage.cacheWriteInputTokens,
    ...(long > 0 && { cache_creation: { ephemeral_1h_input_tokens: long } }),
  }
}

/** Returns the events in which a whole answer would have been streamed. @throws {AttemptFailed} */
export const converseEvents = (answer: WireObject): readonly WireObject[] => {
  const { message } = objectOf(answer.output)
  if (!isObject(message) || !Array.isArray(message.content)) throw streamBroken()
  return [
    { type: 'messageStart', role: 'assistant' },
    ...message.content
      .map(objectOf)
      .flatMap((block, contentBlockIndex) => [
        ...blockEvents(block).map((event) => ({ ...event, contentBlockIndex })),
        { type: 'contentBlockStop', contentBlockIndex },
      ]),
    { type: 'messageStop', stopReason: answer.stopReason },
    { type: 'metadata', usage: answer.usage },
  ]
}

const blockEvents = ({ text, toolUse, reasoningContent, citationsContent }: WireObject): readonly WireObject[] => {
  if (isObject(citationsContent)) {
    const texts = arrayOf(citationsContent.content).map((each) => ({ text: textOf(objectOf(each).text) }))
    const citations = arrayOf(citationsContent.citations).map((citation) => ({ citation }))
    return [...texts, ...citations].map((delta) => ({ type: 'contentBlockDelta', delta }))
  }
  if (isObject(toolUse)) return [{ type: 'contentBlockStart', start: { toolUse } }]
  const { reasoningText, redactedContent } = objectOf(reasoningContent)
  if (redactedContent !== undefined) return [{ type: 'contentBlockDelta', delta: { reasoningContent } }]
  if (!isObject(reasoningText)) return text === undefined ? [] : [{ type: 'contentBlockDelta', delta: { text } }]
  const parts = Object.entries(reasoningText).map(([name, value]) => ({ reasoningContent: { [name]: value } }))
  return parts.map((delta) => ({ type: 'contentBlockDelta', delta }))
}
