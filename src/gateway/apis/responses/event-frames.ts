import type { WireObject } from '#outgoing/wire.ts'

/** Writes the events of one response as SSE frames, numbered from 0. */
export class EventFrames {
  readonly #write: (frame: string) => void
  #sequence = 0

  constructor(write: (frame: string) => void) {
    this.#write = write
  }

  readonly emit = (type: string, fields: WireObject): void => {
    const data = JSON.stringify({ type, sequence_number: this.#sequence++, ...fields })
    this.#write(`event: ${type}\ndata: ${data}\n\n`)
  }
}
