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
  readonly all: StreamedCall[] = []

  /** Some servers omit `index` and send each call as a whole; such calls are numbered in order. */
  add(deltas: unknown): void {
    for (const delta of arrayOf(deltas).filter(isObject)) {
      const { index = this.all.length } = delta
      if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= maxCalls) continue
      while (this.all.length <= index) this.all.push({ id: '', name: '', arguments: '' })
      const call = this.all[index]
      if (call === undefined) continue
      const { name, arguments: text } = objectOf(delta.function)
      call.id ||= textOf(delta.id)
      call.name ||= textOf(name)
      call.arguments += textOf(text)
    }
  }

  /** The calls as a whole chat completion has them. */
  get whole() {
    return this.all.map(({ id, ...called }) => ({ id, type: 'function' as const, function: called }))
  }
}
