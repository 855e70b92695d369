import { arrayOf, isObject, objectOf, textOf, type WireObject } from '../../outgoing/wire.ts'
import { atEndOfTask } from '../call/end-of-task.ts'
import { streamBroken } from '../call/failure.ts'
import type { ModelAnswer, ModelToolCall } from '../call/provider-port.ts'
import { refusalOf } from '../call/refusal.ts'
import { receivedCall } from './carried.ts'

interface CallParts {
  id: string
  name: string
  arguments: string
}

/**
 * Puts one answer together from its chunks.
 *
 * The first delta handed on carries all text that came together with it, so that a short answer is one delta; later
 * ones are handed on chunk by chunk.
 */
export class TurnReader {
  readonly #onDelta: (text: string) => void
  readonly #calls = new Map<number, CallParts>()
  readonly #thoughts: WireObject[] = []
  #text = ''
  #first: string | null = null
  #firstGiven = false
  #closed = false

  constructor(onDelta: (text: string) => void) {
    this.#onDelta = onDelta
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

  /** @returns true: whoever reads takes all. */
  chunk(chunk: WireObject): boolean {
    const choice = arrayOf(chunk.choices)[0]
    const delta = isObject(choice) ? choice.delta : undefined
    if (!isObject(delta)) return true
    const { content, tool_calls, thinking_blocks } = delta
    if (typeof content === 'string' && content !== '') this.#give(content)
    if (tool_calls !== undefined) for (const call of arrayOf(tool_calls)) this.#callDelta(objectOf(call))
    if (thinking_blocks !== undefined) this.#thoughts.push(...arrayOf(thinking_blocks).filter(isObject))
    return true
  }

  /** The whole answer, but for what its summary says. @throws {ServiceError} `provider_stream_broken` for a call without a name. */
  answer(finishReason: string): Pick<ModelAnswer, 'text' | 'toolCalls' | 'finishReason'> {
    this.flush()
    const toolCalls = this.#toolCalls()
    return { text: this.#text, toolCalls, finishReason: reasonOf(finishReason, toolCalls.length > 0) }
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
    if (parts.id === '') parts.id = textOf(delta.id)
    parts.name += textOf(fields.name)
    parts.arguments += textOf(fields.arguments)
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
