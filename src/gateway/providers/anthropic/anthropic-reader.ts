import type { AnswerEnd } from '#gateway/call/chat-format.ts'
import { streamBroken, streamedFailure } from '#gateway/call/failure.ts'
import { arrayOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import type { ChunkWriter } from '../chunk-writer.ts'
import type { EventReader } from '../event-decoder.ts'
import { citedText } from './anthropic-citations.ts'
import { anthropicFinishReason, anthropicUsage, endingFields } from './anthropic-usage.ts'

interface OpenBlock {
  readonly kind: 'text' | 'call' | 'answer' | 'thinking' | 'other'
  /** Index among the tool calls. */
  readonly call: number
  /** Whether any part of the call's input has been received. */
  begun: boolean
  /** Input given with the start of the block, for calls that are not streamed. */
  readonly input: unknown
  thinking: string
  signature: string
  readonly citations: unknown[]
  /** The block as it began, or as it is since, for blocks of the provider's own tools and summaries. */
  block: WireObject
  /** JSON of the block's input so far, where it is streamed. */
  written: string
}

/** Translates the events of Anthropic's streams into chunks. */
export class AnthropicReader implements EventReader {
  readonly #chunks: ChunkWriter
  readonly #answerTool: string | null
  readonly #blocks = new Map<unknown, OpenBlock>()
  #calls = 0
  /** Length of the text so far, in UTF-16 units. */
  #length = 0
  /** Length of the text that ends with a block whose end readers know. */
  #marked = 0
  #usage: WireObject = {}
  #finish: string | null = null
  #done = false

  /** @param answerTool name of the tool whose input is the text of the response; null for a plain response. */
  constructor(chunks: ChunkWriter, answerTool: string | null) {
    this.#chunks = chunks
    this.#answerTool = answerTool
  }

  get done(): boolean {
    return this.#done
  }

  read(event: WireObject): readonly WireObject[] {
    switch (event.type) {
      case 'message_start':
        return this.#start(objectOf(event.message))
      case 'content_block_start':
        return this.#open(event.index, objectOf(event.content_block))
      case 'content_block_delta':
        return this.#delta(event.index, objectOf(event.delta))
      case 'content_block_stop':
        return this.#close(event.index)
      case 'message_delta':
        return this.#end(objectOf(event.delta), objectOf(event.usage))
      case 'message_stop':
        return this.#stop(objectOf(event.usage))
      case 'error':
        throw streamedFailure(event.error)
      default:
        return []
    }
  }

  finish(): { readonly chunks: readonly WireObject[]; readonly end: AnswerEnd } {
    if (!this.#done || this.#finish === null) throw streamBroken()
    return { chunks: [], end: { model: this.#chunks.model, usage: this.#counted(), finishReason: this.#finish } }
  }

  #start(message: WireObject): readonly WireObject[] {
    if (textOf(message.id) !== '') this.#chunks.id = textOf(message.id)
    if (textOf(message.model) !== '') this.#chunks.model = textOf(message.model)
    this.#usage = objectOf(message.usage)
    return [this.#chunks.delta({ role: 'assistant', content: '' })]
  }

  #open(index: unknown, block: WireObject): readonly WireObject[] {
    const kind = this.#kindOf(block)
    const thinking = textOf(block.thinking)
    const call = kind === 'call' ? this.#calls++ : 0
    this.#blocks.set(index, {
      ...{ kind, call, begun: false, input: block.input, thinking, signature: textOf(block.signature) },
      ...{ block, written: '', citations: kind === 'text' ? [...arrayOf(block.citations)] : [] },
    })
    if (kind === 'text') return [...this.#endOfText(), ...this.#say(textOf(block.text))]
    if (kind === 'thinking' && thinking !== '') return [this.#chunks.delta({ reasoning_content: thinking })]
    if (block.type === 'redacted_thinking') {
      return [this.#chunks.delta({ thinking_blocks: [{ type: block.type, data: block.data, ...this.#placed }] })]
    }
    if (kind !== 'call') return []
    const named = { name: textOf(block.name), arguments: '' }
    return [this.#callDelta({ index: call, id: textOf(block.id), type: 'function', function: named })]
  }

  #kindOf(block: WireObject): OpenBlock['kind'] {
    if (block.type === 'tool_use') return block.name === this.#answerTool ? 'answer' : 'call'
    return block.type === 'text' || block.type === 'thinking' ? block.type : 'other'
  }

  #delta(index: unknown, delta: WireObject): readonly WireObject[] {
    const block = this.#blocks.get(index)
    if (block === undefined) throw streamBroken()
    switch (delta.type) {
      case 'text_delta':
        return this.#say(textOf(delta.text))
      case 'citations_delta':
        block.citations.push(delta.citation)
        return []
      case 'input_json_delta':
        return this.#input(block, textOf(delta.partial_json))
      case 'thinking_delta':
        block.thinking += textOf(delta.thinking)
        return delta.thinking === '' ? [] : [this.#chunks.delta({ reasoning_content: textOf(delta.thinking) })]
      case 'signature_delta':
        block.signature += textOf(delta.signature)
        return []
      case 'compaction_delta': {
        const { type: _type, ...whole } = delta
        block.block = { ...block.block, ...whole }
        return []
      }
      default:
        return []
    }
  }

  #input(block: OpenBlock, part: string): readonly WireObject[] {
    if (part === '') return []
    block.begun = true
    if (block.kind === 'answer') return this.#say(part)
    if (block.kind === 'other') block.written += part
    return block.kind === 'call' ? [this.#callDelta({ index: block.call, function: { arguments: part } })] : []
  }

  #say(text: string): readonly WireObject[] {
    this.#length += text.length
    return text === '' ? [] : [this.#chunks.delta({ content: text })]
  }

  /** A list of citations ends a text, also an empty one: what follows is another block. */
  #endOfText(citations: readonly unknown[] = []): readonly WireObject[] {
    const from = this.#marked
    if (from === this.#length) return []
    this.#marked = this.#length
    return [this.#chunks.delta(citedText(citations, from, this.#length))]
  }

  /** The place of a block, if a text precedes it. */
  get #placed(): WireObject {
    return this.#length === 0 ? {} : { start_index: this.#length }
  }

  /**
   * No delta has been received for a call without input, or for one that the server sends whole: its input is emitted
   * here.
   */
  #close(index: unknown): readonly WireObject[] {
    const block = this.#blocks.get(index)
    if (block === undefined) return []
    if (block.kind === 'thinking' && block.signature !== '') {
      const { thinking, signature } = block
      return [this.#chunks.delta({ thinking_blocks: [{ type: 'thinking', thinking, signature, ...this.#placed }] })]
    }
    if (block.citations.length > 0) return this.#endOfText(block.citations)
    if (isOwn(block)) return [this.#chunks.delta({ thinking_blocks: [{ ...ownBlock(block), ...this.#placed }] })]
    if (block.begun || (block.kind !== 'call' && block.kind !== 'answer')) return []
    return this.#input(block, JSON.stringify(isObject(block.input) ? block.input : {}))
  }

  #end(delta: WireObject, usage: WireObject): readonly WireObject[] {
    for (const [field, value] of Object.entries(usage)) {
      if (value !== null && value !== undefined) this.#usage = { ...this.#usage, [field]: value }
    }
    if (this.#finish !== null || typeof delta.stop_reason !== 'string') return []
    const reason = anthropicFinishReason(delta.stop_reason)
    this.#finish = reason === 'tool_calls' && this.#calls === 0 ? 'stop' : reason
    return [this.#chunks.finish(this.#finish, 0, endingFields(delta))]
  }

  /** @param late counts that a service reports only at the end. */
  #stop(late: WireObject): readonly WireObject[] {
    if (this.#finish === null) throw streamBroken()
    for (const [field, value] of Object.entries(late))
      this.#usage = { ...this.#usage, [field]: this.#usage[field] ?? value }
    this.#done = true
    const usage = this.#counted()
    return usage === null ? [] : [this.#chunks.usage(usage)]
  }

  #counted(): AnswerEnd['usage'] {
    return Object.keys(this.#usage).length === 0 ? null : anthropicUsage(this.#usage)
  }

  #callDelta(call: WireObject): WireObject {
    return this.#chunks.delta({ tool_calls: [call] })
  }
}

/** Whether it is a block of one of Anthropic's own tools, which has no equivalent in OpenAI's format. */
const isOwn = ({ kind, block }: OpenBlock): boolean => kind === 'other' && block.type !== 'redacted_thinking'

const ownBlock = ({ block, written, signature }: OpenBlock): WireObject => {
  if (written !== '') return { ...block, input: objectOf(parseJson(written)) }
  return signature === '' ? block : { ...block, signature }
}

/** Returns the events that a whole message would have been streamed in. */
export function eventsOf(message: WireObject): readonly WireObject[] {
  const blocks = Array.isArray(message.content) ? message.content : []
  return [
    { type: 'message_start', message },
    ...blocks.flatMap((content_block, index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]),
    {
      ...{ type: 'message_delta', usage: {} },
      delta: { stop_reason: message.stop_reason, stop_sequence: message.stop_sequence, container: message.container },
    },
    { type: 'message_stop' },
  ]
}
