import { type Frame, frames } from '#scripts/quickstart/sse-lines.ts'

export type { Frame }

/** Reads one SSE answer as it arrives and keeps every frame, also those before a connection broke. */
export class StreamReader {
  readonly frames: Frame[] = []
  readonly headers: Headers
  /** How the stream ended: `done` by the server, or `broken`. */
  readonly ended: Promise<'done' | 'broken'>
  readonly #stop: () => void
  readonly #waiting = new Set<() => void>()

  constructor(body: AsyncIterable<Uint8Array>, headers: Headers, stop: () => void) {
    this.headers = headers
    this.#stop = stop
    this.ended = this.#read(body)
  }

  /** The first matching frame, received already or later; rejects when the stream ends without one. */
  until(wanted: (frame: Frame) => boolean): Promise<Frame> {
    return new Promise((resolve, reject) => {
      const read = (): boolean => {
        const found = this.frames.find(wanted)
        if (found === undefined) return false
        this.#waiting.delete(read)
        resolve(found)
        return true
      }
      if (read()) return
      this.#waiting.add(read)
      void this.ended.then((how) => read() || reject(new Error(`${how} after ${JSON.stringify(this.frames.at(-1))}`)))
    })
  }

  /** All frames, once the server has ended the stream; rejects when it broke. */
  async all(): Promise<readonly Frame[]> {
    if ((await this.ended) === 'broken') throw new Error(`broken after ${JSON.stringify(this.frames.at(-1))}`)
    return this.frames
  }

  stop(): void {
    this.#stop()
  }

  async #read(body: AsyncIterable<Uint8Array>): Promise<'done' | 'broken'> {
    try {
      for await (const frame of frames(body)) {
        this.frames.push(frame)
        for (const read of [...this.#waiting]) read()
      }
      return 'done'
    } catch {
      return 'broken'
    }
  }
}

export const isEvent =
  (...names: readonly string[]) =>
  ({ event }: Pick<Frame, 'event'>): boolean =>
    names.includes(event)

export const isDelta = isEvent('response.output_text.delta', 'output_text.delta')

export const endsTurn = isEvent('turn.completed', 'turn.failed')

/** The deltas of some frames, joined. */
export const textOf = (seen: readonly Frame[]): string =>
  seen
    .filter(isDelta)
    .map(({ data }) => data.delta)
    .join('')

/** 1, 2, 3 … up to the number of frames or rows. */
export const counted = (items: readonly unknown[]): readonly number[] => items.map((_, at) => at + 1)

/** Whether sequences rise, so that no event comes twice. After a crash in an answer there is a gap. */
export const rise = (sequences: readonly number[]): boolean =>
  sequences.every((sequence, index) => index === 0 || sequence > Number(sequences[index - 1]))

/** The frames of a turn from its last restart on, or all of them. */
export const sinceRestart = (turn: readonly Frame[]): readonly Frame[] =>
  turn.slice(turn.findLastIndex(isEvent('turn.restarted')) + 1)
