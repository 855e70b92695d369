import type { FanOut } from '#storage/index.ts'

const topic = 'cancelled-batches'

/** Lines of batches in progress, which cease to wait once their batch is cancelled, on this node or another. */
export class CancelledBatches {
  readonly #fanOut: Pick<FanOut, 'announce'> | undefined
  /** Batches with lines in progress in this process. */
  readonly #running = new Map<string, { readonly ended: AbortController; lines: number }>()

  constructor(fanOut: Pick<FanOut, 'announce' | 'subscribe'> | undefined) {
    this.#fanOut = fanOut
    fanOut?.subscribe(topic, ({ batch }) => this.#heard(String(batch)))
  }

  /** Ends the waits of a batch. A node that is not reached lets them end by themselves. */
  cancelled(batch: string): void {
    this.#heard(batch)
    this.#fanOut?.announce(topic, { batch })
  }

  /** Runs a line with a signal that aborts when its batch is cancelled. */
  async run<T>(batch: string, line: (cancelled: AbortSignal) => Promise<T>): Promise<T> {
    const running = this.#running.get(batch) ?? { ended: new AbortController(), lines: 0 }
    this.#running.set(batch, running)
    running.lines++
    try {
      return await line(running.ended.signal)
    } finally {
      if (--running.lines === 0) this.#running.delete(batch)
    }
  }

  #heard(batch: string): void {
    this.#running.get(batch)?.ended.abort()
  }
}
