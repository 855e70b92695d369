import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { streamBroken } from '../call/failure.ts'
import type { ModelAnswer, ModelToolCall } from '../call/provider-port.ts'
import { refusalOf } from '../call/refusal.ts'
import { atEndOfTask } from '../call/streaming/end-of-task.ts'
import { receivedCall } from './carried.ts'

/** An answer has so many tool calls at most. */
export const maxAnswerCalls = 128

/** An answer has so much text, arguments and reasoning at most, in UTF-16 units. */
export const maxAnswerLength = 4 * 1024 * 1024

/** From an answer that is too long the end is waited for, which says what it cost; not for ever. */
const maxReadLength = 4 * maxAnswerLength

interface CallParts {
  id: string
  name: string
  arguments: string
}

/**
 * Puts one answer together from its chunks.
 *
 * The first delta handed on carries all text that came together with it, so that a short answer is one delta; later
 * ones are handed on chunk by chunk. Of an answer that is too large nothing more is kept or handed on, and it ends as
 * `answer_too_large`.
 */
export class TurnReader {
  readonly #onDelta: (text: string) => void
  readonly #calls = new Map<number, CallParts>()
  readonly #thoughts: WireObject[] = []
  #text = ''
  #first: string | null = null
  #firstGiven = false
  #closed = false
  #length = 0
  #tooLarge = false

  constructor(onDelta: (text: string) => void) {
    this.#onDelta = onDelta
  }

  /** Nothing more of the answer is worth waiting for. */
  get endless(): boolean {
    return this.#length > maxReadLength
  }

  /** Nothing more is handed on. */
  close(): void {
    this.#closed = true
  }

  /** Hands on what waits for more that comes together with it. */
  flush(): void {
    const first = this.#first
    this.#first = null
    if (first === null || this.#closed) return
    this.#firstGiven = true
    this.#onDelta(first)
  }

  /** @returns true: the reader takes all. */
  chunk(chunk: WireObject): boolean {
    const choice = arrayOf(chunk.choices)[0]
    const delta = isObject(choice) ? choice.delta : undefined
    if (!isObject(delta)) return true
    const { content, tool_calls, thinking_blocks } = delta
    if (typeof content === 'string' && content !== '' && this.#takes(content.length)) this.#give(content)
    if (tool_calls !== undefined) for (const call of arrayOf(tool_calls)) this.#callDelta(objectOf(call))
    if (thinking_blocks !== undefined) for (const block of arrayOf(thinking_blocks)) this.#think(block)
    return true
  }

  /**
   * The whole answer, but for what its summary says.
   *
   * @throws {ServiceError} `provider_stream_broken` for a call without a name, `answer_too_large`
   */
  answer(finishReason: string): Pick<ModelAnswer, 'text' | 'toolCalls' | 'finishReason'> {
    this.flush()
    if (this.#tooLarge) throw new ServiceError('answer_too_large')
    const toolCalls = this.#toolCalls()
    return { text: this.#text, toolCalls, finishReason: reasonOf(finishReason, toolCalls.length > 0) }
  }

  /** Whether so much more is kept. */
  #takes(length: number): boolean {
    this.#length += length
    this.#tooLarge ||= this.#length > maxAnswerLength
    return !this.#tooLarge
  }

  #think(block: unknown): void {
    if (isObject(block) && this.#takes(JSON.stringify(block).length)) this.#thoughts.push(block)
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

  /** Some servers leave `index` out and send each call whole: those go by their place. */
  #callDelta(delta: WireObject): void {
    const index = typeof delta.index === 'number' ? delta.index : this.#calls.size
    const parts = this.#calls.get(index) ?? { id: '', name: '', arguments: '' }
    const fields = objectOf(delta.function)
    const [id, name, text] = [textOf(delta.id), textOf(fields.name), textOf(fields.arguments)]
    this.#tooLarge ||= !this.#calls.has(index) && this.#calls.size >= maxAnswerCalls
    if (!this.#takes(id.length + name.length + text.length)) return
    if (parts.id === '') parts.id = id
    parts.name += name
    parts.arguments += text
    this.#calls.set(index, parts)
  }

  #toolCalls(): ModelToolCall[] {
    if (this.#calls.size === 0) return []
    const inOrder = [...this.#calls.entries()].sort(([a], [b]) => a - b)
    return inOrder.map(([index, { id, name, arguments: text }], place) => {
      if (name === '') throw refusalOf(streamBroken())
      return { ...receivedCall(id === '' ? `call_${index}` : id, place, this.#thoughts), name, arguments: text }
    })
  }
}

/** Unknown reasons (compatible servers invent some) are a plain stop; calls make it `tool_calls` whatever was said. */
const reasonOf = (reason: string, hasCalls: boolean): ModelAnswer['finishReason'] => {
  if (reason === 'length' || reason === 'content_filter') return reason
  return hasCalls ? 'tool_calls' : 'stop'
}
