import { setImmediate } from 'node:timers/promises'

const maxMs = 8

/** Yields the event loop once a search has held it for 8 ms. */
export class Pause {
  #since = performance.now()

  due(): boolean {
    return performance.now() - this.#since > maxMs
  }

  async turn(): Promise<void> {
    await setImmediate()
    this.#since = performance.now()
  }
}
