/** Reads data at regular intervals while the page is visible, until it is stopped. */
export class Refreshing {
  #read
  #everyMs
  #report
  #stopped = false
  #timer = 0

  /**
   * @param {() => Promise<void>} read
   * @param {number} everyMs 0: read only once
   * @param {(error: unknown) => void} report called with an error, and with null when it is resolved
   */
  constructor(read, everyMs, report) {
    this.#read = read
    this.#everyMs = everyMs
    this.#report = report
  }

  /** Whether reading has been stopped, so that late results must be dropped. */
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
