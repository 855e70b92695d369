import { setImmediate } from 'node:timers/promises'

const mostMs = 8

/** Lets others have the event loop when a search has had it for some milliseconds. */
export class Pause {
  #since = performance.now()

  due(): boolean {
    return performance.now() - this.#since > mostMs
  }

  async turn(): Promise<void> {
    await setImmediate()
    this.#since = performance.now()
  }
}
