/** Reads something again and again while the page is seen, until it is stopped. */
export class Refreshing {
  #read
  #everyMs
  #report
  #stopped = false
  #timer = 0

  /**
   * @param {() => Promise<void>} read
   * @param {number} everyMs 0: once
   * @param {(error: unknown) => void} report called with trouble, and with null when it is over
   */
  constructor(read, everyMs, report) {
    this.#read = read
    this.#everyMs = everyMs
    this.#report = report
  }

  /** What was read is not wanted any more. */
  get stopped() {
    return this.#stopped
  }

  /** @throws {import('./api.js').ApiError} when the first read fails */
  async start() {
    await this.#read()
    this.#schedule()
  }

  stop() {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #schedule() {
    if (this.#stopped || this.#everyMs === 0) return
    this.#timer = setTimeout(async () => {
      if (document.visibilityState === 'visible') await this.#read().then(() => this.#report(null), this.#report)
      this.#schedule()
    }, this.#everyMs)
  }
}
