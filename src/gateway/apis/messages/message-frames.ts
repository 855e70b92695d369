import type { ChatSummary } from '#gateway/call/chat-calls.ts'
import { type StreamedCall, StreamedCalls } from '#gateway/call/streaming/streamed-calls.ts'
import { contentBlocks, unplaced } from '#gateway/providers/anthropic/anthropic-citations.ts'
import { arrayOf, countOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { ServiceError } from '#specs/errors/errors.ts'
import { anthropicError } from '#specs/errors/wire-errors.ts'
import type { StreamForm } from '../streamed-chat.ts'
import { type ChoiceEnding, chargedUsage, endingOf, newMessage, stopOf, textBlock, usageOf } from './message-answer.ts'

const nothingUsed = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 }

/**
 * Writes the events of a streamed answer in Anthropic's form, one block after the other. Of several simultaneous calls,
 * the first is streamed; the others follow when the model is done.
 */
export class MessageFrames implements StreamForm {
  readonly headers: NonNullable<StreamForm['headers']>
  readonly #requestId: string
  readonly #calls = new StreamedCalls()
  #frames = ''
  #id = ''
  #begun = false
  /** Number of blocks that have begun. */
  #blocks = 0
  #open: 'text' | 'thinking' | 'tool_use' | null = null
  /** The call that is streamed: the first one. */
  #streamed: StreamedCall | null = null
  /** Calls whose blocks have begun. */
  readonly #begunCalls = new Set<StreamedCall>()
  #ending: ChoiceEnding = endingOf({})
  /** Length of the text so far, in UTF-16 units. */
  #length = 0
  /** Deltas with what the model wrote or thought while a call was streamed. */
  readonly #late: WireObject[] = []

  /** @param headers in addition to those of every stream. */
  constructor(requestId: string, headers: NonNullable<StreamForm['headers']>) {
    this.#requestId = requestId
    this.headers = headers
  }

  /** Id of the message; '' before it has begun. */
  get id(): string {
    return this.#id
  }

  chunk(chunk: WireObject): string {
    if (!this.#begun) this.#begin(textOf(chunk.model))
    const choice = objectOf(arrayOf(chunk.choices)[0])
    const { text, pause, container } = this.#ending
    if (text === '' && pause === '' && container === null) this.#ending = endingOf(choice)
    this.#delta(objectOf(choice.delta))
    return this.#take()
  }

  end(summary: ChatSummary): string {
    if (!this.#begun) this.#begin(summary.model)
    this.#finishCalls()
    for (const delta of this.#late) this.#say(delta)
    this.#close()
    const stop = stopOf(summary, this.#ending, this.#begunCalls.size > 0)
    const delta = { ...stop, stop_details: null, container: this.#ending.container }
    this.#emit('message_delta', { delta, usage: chargedUsage(summary) })
    this.#emit('message_stop', {})
    return this.#take()
  }

  fail(error: ServiceError): string {
    return `event: error\ndata: ${JSON.stringify(anthropicError(error, this.#requestId))}\n\n`
  }

  #begin(model: string): void {
    this.#begun = true
    const message = newMessage(model, [], usageOf(nothingUsed))
    this.#id = message.id
    this.#emit('message_start', { message })
  }

  #delta({ tool_calls: calls, ...words }: WireObject): void {
    // a block that has ended cannot go on, so what is written into the arguments of a call follows the calls
    if (this.#open !== 'tool_use') this.#say(words)
    else if (Object.values(words).some(isWritten)) this.#late.push(words)
    for (const [call, text] of this.#calls.add(calls)) {
      this.#streamed ??= call
      if (call === this.#streamed) this.#stream(call, text)
    }
  }

  #say(delta: WireObject): void {
    const text = textOf(delta.content)
    const from = this.#length
    this.#length += text.length
    const cited = arrayOf(delta.citations).map(objectOf)
    const endsWithin = cited.some(({ end_index }) => countOf(end_index) > from && countOf(end_index) < this.#length)
    if (text !== '' && (endsWithin || arrayOf(delta.thinking_blocks).length > 0)) this.#whole(text, delta, from)
    else this.#piece(text, delta, cited)
    const refusal = textOf(delta.refusal)
    if (refusal !== '') this.#block(refusal, [], false)
  }

  /** Writes a delta of a stream. A list of citations ends the text that it is of. */
  #piece(text: string, delta: WireObject, cited: readonly WireObject[]): void {
    const thinking = textOf(delta.reasoning_content) || textOf(delta.reasoning)
    if (thinking !== '') this.#thinking({ type: 'thinking_delta', thinking })
    for (const block of arrayOf(delta.thinking_blocks)) this.#thought(objectOf(block))
    this.#block(text, cited.map(unplaced), Array.isArray(delta.citations))
  }

  /** Writes the blocks of a delta that has a whole message, as of an answer that is given again. */
  #whole(text: string, delta: WireObject, from: number): void {
    // a guardrail holds citations back for longer than the text that they are of
    const late = arrayOf(delta.citations)
      .map(objectOf)
      .filter(({ end_index }) => countOf(end_index) <= from)
    if (late.length > 0) this.#block('', late.map(unplaced))
    const [citations = [], thoughts = []] = [delta.citations, delta.thinking_blocks].map((list) =>
      arrayOf(list).map((each) => placedAfter(from, objectOf(each))),
    )
    for (const block of contentBlocks(text, citations, thoughts)) {
      if (block.type === 'text') this.#block(textOf(block.text), arrayOf(block.citations))
      else {
        if (textOf(block.thinking) !== '') this.#thinking({ type: 'thinking_delta', thinking: textOf(block.thinking) })
        this.#thought(block)
      }
    }
  }

  /** @param isOver whether what follows is another block. */
  #block(text: string, citations: readonly unknown[], isOver = true): void {
    if (text !== '') {
      this.#turnTo('text', textBlock(''))
      this.#blockDelta({ type: 'text_delta', text })
    }
    if (!isOver || this.#open !== 'text') return
    for (const citation of citations) this.#blockDelta({ type: 'citations_delta', citation })
    this.#close()
  }

  #thinking(delta: WireObject): void {
    this.#turnTo('thinking', { type: 'thinking', thinking: '', signature: '' })
    this.#blockDelta(delta)
  }

  /**
   * Writes a thinking block. Its signature comes after its text; redacted thinking, and blocks of Anthropic's own
   * tools, come as complete blocks.
   */
  #thought(block: WireObject): void {
    if (block.type === 'thinking') {
      // other gateways send each piece of thinking as a block too, and the signature with the last
      if (textOf(block.signature) === '') return
      this.#thinking({ type: 'signature_delta', signature: textOf(block.signature) })
      this.#close()
    } else if (textOf(block.type) !== '') {
      this.#close()
      this.#emit('content_block_start', { index: this.#blocks, content_block: unplaced(block) })
      this.#emit('content_block_stop', { index: this.#blocks++ })
    }
  }

  /** @param more arguments that were added to a call; its block begins with all of them once its name is known. */
  #stream(call: StreamedCall, more: string): void {
    const { id, name, arguments: all } = call
    if (name === '') return
    const isBegun = this.#begunCalls.has(call)
    const partial_json = isBegun ? more : all
    if (!isBegun) {
      this.#begunCalls.add(call)
      this.#close()
      this.#start('tool_use', { type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } })
    }
    if (partial_json !== '') this.#blockDelta({ type: 'input_json_delta', partial_json })
  }

  /** Writes the calls that were not streamed. */
  #finishCalls(): void {
    for (const call of this.#calls.all) if (call !== this.#streamed) this.#stream(call, '')
  }

  #turnTo(kind: 'text' | 'thinking', block: WireObject): void {
    if (this.#open === kind) return
    this.#close()
    this.#start(kind, block)
  }

  #start(kind: 'text' | 'thinking' | 'tool_use', content_block: WireObject): void {
    this.#emit('content_block_start', { index: this.#blocks++, content_block })
    this.#open = kind
  }

  #blockDelta(delta: WireObject): void {
    this.#emit('content_block_delta', { index: this.#blocks - 1, delta })
  }

  #close(): void {
    if (this.#open === null) return
    this.#open = null
    this.#emit('content_block_stop', { index: this.#blocks - 1 })
  }

  #emit(type: string, fields: WireObject): void {
    this.#frames += `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
  }

  #take(): string {
    const frames = this.#frames
    this.#frames = ''
    return frames
  }
}

const placedAfter = (from: number, { start_index, end_index, ...rest }: WireObject): WireObject => ({
  ...rest,
  ...(start_index !== undefined && { start_index: Math.max(0, countOf(start_index) - from) }),
  ...(end_index !== undefined && { end_index: Math.max(0, countOf(end_index) - from) }),
})

/** Whether a field of a delta has anything. */
const isWritten = (field: unknown): boolean => textOf(field) !== '' || arrayOf(field).length > 0
