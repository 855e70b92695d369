import { setImmediate } from 'node:timers/promises'

const maxMs = 8

/** Yields the event loop once a search has held it for 8 ms, and ends a search that is not waited for any more. */
export class Pause {
  readonly #signal: AbortSignal | undefined
  #since = performance.now()

  constructor(signal?: AbortSignal) {
    this.#signal = signal
  }

  /** @throws the reason of the signal once it is aborted. */
  due(): boolean {
    this.#signal?.throwIfAborted()
    return performance.now() - this.#since > maxMs
  }

  async turn(): Promise<void> {
    await setImmediate()
    this.#since = performance.now()
  }
}
