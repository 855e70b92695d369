import { arrayOf, countOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { streamBroken } from '../call/failure.ts'
import type { ModelAnswer, ModelToolCall } from '../call/provider-port.ts'
import { refusalOf } from '../call/refusal.ts'
import { atEndOfTask } from '../call/streaming/end-of-task.ts'
import { StreamedCalls } from '../call/streaming/streamed-calls.ts'
import { pausedTurn } from '../providers/anthropic/anthropic-usage.ts'
import { receivedCall } from './carried.ts'

/** Maximum number of tool calls of an answer. */
export const maxAnswerCalls = 128

/** Maximum length of an answer's text, arguments and reasoning, in UTF-16 units. */
export const maxAnswerLength = 4 * 1024 * 1024

/** An answer that is too long is read up to this length without being stored, because its end reports the cost. */
const maxReadLength = 4 * maxAnswerLength

/**
 * Assembles one answer from its chunks.
 *
 * The first delta passed on has all text that arrived together with it, so that a short answer is one delta; later text
 * is passed on chunk by chunk. When an answer is too large, nothing more is stored or passed on, and it ends with
 * `answer_too_large`.
 */
export class TurnReader {
  readonly #onDelta: (text: string) => void
  readonly #onReasoning: ((text: string) => void) | undefined
  readonly #calls = new StreamedCalls()
  readonly #thoughts: WireObject[] = []
  #text = ''
  #first: string | null = null
  #firstGiven = false
  #closed = false
  #length = 0
  #tooLarge = false
  #isPaused = false
  /** Lengths of the text, and of all, when the answer was last continued. */
  #continuedAt = { text: 0, all: 0 }

  constructor(onDelta: (text: string) => void, onReasoning?: (text: string) => void) {
    this.#onDelta = onDelta
    this.#onReasoning = onReasoning
  }

  /** Whether the answer is so long that its end should not be awaited. */
  get endless(): boolean {
    return this.#length > maxReadLength
  }

  /** Stops passing on text. */
  close(): void {
    this.#closed = true
  }

  /** Passes on the text that is held back for the first delta. */
  flush(): void {
    const first = this.#first
    this.#first = null
    if (first === null || this.#closed) return
    this.#firstGiven = true
    this.#onDelta(first)
  }

  words(text: string): void {
    if (this.#takes(text.length)) this.#give(text)
  }

  /** @returns always true: the reader never pauses the stream. */
  chunk(chunk: WireObject): boolean {
    const choice = arrayOf(chunk.choices)[0]
    if (!isObject(choice)) return true
    this.#isPaused ||= choice.native_finish_reason === pausedTurn
    const { delta } = choice
    if (!isObject(delta)) return true
    const { content, tool_calls, thinking_blocks } = delta
    if (this.#onReasoning !== undefined) this.#reason(textOf(delta.reasoning_content) || textOf(delta.reasoning))
    if (typeof content === 'string' && content !== '') this.words(content)
    if (tool_calls !== undefined) for (const call of arrayOf(tool_calls)) this.#callDelta(objectOf(call))
    if (thinking_blocks !== undefined) for (const block of arrayOf(thinking_blocks)) this.#think(block)
    return true
  }

  /**
   * Returns what the model wrote so far as a message, for a call that continues an answer which its provider paused
   * between uses of its own tools; null for an answer that is not paused, or came no further since it was continued.
   */
  continued(): WireObject | null {
    const isPaused = this.#isPaused && !this.#tooLarge && this.#length > this.#continuedAt.all
    this.#isPaused = false
    if (!isPaused || this.#calls.size > 0) return null
    this.#continuedAt = { text: this.#text.length, all: this.#length }
    return { role: 'assistant', content: this.#text, thinking_blocks: [...this.#thoughts] }
  }

  /**
   * Returns the complete answer, except for what its summary has.
   *
   * @throws {ServiceError} `provider_stream_broken` for a call without a name, `answer_too_large`
   */
  answer(finishReason: string): Pick<ModelAnswer, 'text' | 'toolCalls' | 'finishReason'> {
    this.flush()
    if (this.#tooLarge) throw new ServiceError('answer_too_large')
    const toolCalls = this.#toolCalls()
    return { text: this.#text, toolCalls, finishReason: reasonOf(finishReason, toolCalls.length > 0) }
  }

  /** Counts additional length. @returns whether it is still within the maximum. */
  #takes(length: number): boolean {
    this.#length += length
    this.#tooLarge ||= this.#length > maxAnswerLength
    return !this.#tooLarge
  }

  #reason(text: string): void {
    if (text === '' || this.#closed || !this.#takes(text.length)) return
    this.flush()
    this.#onReasoning?.(text)
  }

  #think(block: unknown): void {
    if (!isObject(block) || !this.#takes(JSON.stringify(block).length)) return
    const { text } = this.#continuedAt
    // its place is that in the text of its own call
    this.#thoughts.push(text === 0 ? block : { ...block, start_index: text + countOf(block.start_index) })
  }

  #give(text: string): void {
    this.#text += text
    if (this.#firstGiven) {
      if (!this.#closed) this.#onDelta(text)
      return
    }
    if (this.#first === null) atEndOfTask(() => this.flush())
    this.#first = (this.#first ?? '') + text
  }

  #callDelta(delta: WireObject): void {
    const { name, arguments: text } = objectOf(delta.function)
    if (!this.#takes(textOf(delta.id).length + textOf(name).length + textOf(text).length)) return
    this.#calls.add([delta])
    this.#tooLarge ||= this.#calls.size > maxAnswerCalls
  }

  #toolCalls(): ModelToolCall[] {
    return this.#calls.all.map(({ id, name, arguments: text }, place) => {
      if (name === '') throw refusalOf(streamBroken())
      return { ...receivedCall(id === '' ? `call_${place}` : id, place, this.#thoughts), name, arguments: text }
    })
  }
}

/**
 * Maps a finish reason. Unknown ones, which some compatible servers have, become `stop`; an answer with calls always
 * becomes `tool_calls` unless it was cut off.
 */
const reasonOf = (reason: string, hasCalls: boolean): ModelAnswer['finishReason'] => {
  if (reason === 'length' || reason === 'content_filter') return reason
  return hasCalls ? 'tool_calls' : 'stop'
}
