import type { LogEvent } from '#storage/ports.ts'

/** A piece of a scripted model's text. */
interface Chunk {
  readonly whole: string
  /** Id of the effect that called the model. */
  readonly call: string
  readonly index: number
  /** Which call to the model said it, of those that the effect made, from 0. */
  readonly attempt: number
}

/** A chunk of a scripted model's text: its call, its index, and its attempt. */
export const chunkOf = (call: string, index: number, attempt = 0): string => `<${call}#${index}.${attempt}>`

/** Returns the chunks of a text, in order. */
export const chunksIn = (text: string): readonly Chunk[] =>
  [...text.matchAll(/<([^#<>]+)#(\d+)\.(\d+)>/g)].map(([whole, call = '', index, attempt]) => ({
    ...{ whole, call },
    index: Number(index),
    attempt: Number(attempt),
  }))

/**
 * What every reader of a turn sees, wherever it begins and breaks off: each chunk of one attempt once and in order, until
 * a restart. After a whole answer, that of the next call begins.
 */
export class AttemptText {
  readonly #chunksOf: (call: string) => number
  /** The chunk before the next one; null at the begin of a text, undefined when the reader joined in the middle of one. */
  #last: Chunk | null | undefined

  /** @param chunksOf returns the number of chunks of a call's answer. */
  constructor(chunksOf: (call: string) => number) {
    this.#chunksOf = chunksOf
  }

  /** @returns what the event violates; null for nothing. */
  take({ event_type, payload }: LogEvent): string | null {
    if (event_type === 'turn.started' || event_type === 'turn.restarted') this.#last = null
    if (event_type !== 'output_text.delta') return null
    for (const chunk of chunksIn(String(payload.delta))) {
      const before = this.#last
      this.#last = chunk
      if (!this.#mayFollow(before, chunk)) return `${chunk.whole} after ${before?.whole ?? 'the begin of the text'}`
    }
    return null
  }

  #mayFollow(before: Chunk | null | undefined, { call, index, attempt }: Chunk): boolean {
    if (before === undefined) return true
    if (before?.call === call) return attempt === before.attempt && index === before.index + 1
    return index === 0 && (before === null || before.index + 1 === this.#chunksOf(before.call))
  }
}
