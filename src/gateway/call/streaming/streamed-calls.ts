import { arrayOf, isObject, objectOf, textOf } from '#outgoing/wire.ts'

/** A call of a function, as far as it has arrived. */
export interface StreamedCall {
  id: string
  name: string
  arguments: string
}

/** More calls than any model makes at once: a higher index is ignored as invalid. */
const maxCalls = 1024

/** Assembles the calls of an answer from the `tool_calls` of its deltas. */
export class StreamedCalls {
  readonly #calls = new Map<number, StreamedCall>()
  #newest = -1

  /** @returns the calls that the deltas are of, with the arguments that each adds. */
  add(deltas: unknown): readonly (readonly [call: StreamedCall, text: string])[] {
    return arrayOf(deltas).flatMap((delta) => {
      if (!isObject(delta)) return []
      const { name, arguments: text } = objectOf(delta.function)
      const [id, named] = [textOf(delta.id), textOf(name)]
      const index = typeof delta.index === 'number' ? delta.index : this.#placeOf(id, named)
      if (!Number.isInteger(index) || index < 0 || index >= maxCalls) return []
      const call = this.#calls.get(index) ?? { id: '', name: '', arguments: '' }
      this.#calls.set(index, call)
      this.#newest = Math.max(this.#newest, index)
      call.id ||= id
      call.name ||= named
      call.arguments += textOf(text)
      return [[call, textOf(text)] as const]
    })
  }

  get size(): number {
    return this.#calls.size
  }

  /** Some servers omit `index`. Then another id, or a name without an id, begins a call, and other parts continue the newest. */
  #placeOf(id: string, name: string): number {
    const newest = this.#calls.get(this.#newest)
    const isMore = newest !== undefined && (id === '' ? name === '' : id === newest.id)
    return isMore ? this.#newest : this.#newest + 1
  }

  /** The calls in the order of their index. */
  get all(): readonly StreamedCall[] {
    return [...this.#calls].sort(([one], [other]) => one - other).map(([, call]) => call)
  }

  /** The calls as a whole chat completion has them. */
  get whole() {
    return this.all.map(({ id, ...called }) => ({ id, type: 'function' as const, function: called }))
  }
}
