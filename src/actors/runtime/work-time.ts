/** A timer that can be paused while something else is waited for, such as a person or a turn. */
export class WorkTime {
  readonly #onOver: () => void
  #leftMs: number
  #since = 0
  #timer: NodeJS.Timeout | undefined

  /** Starts the timer. @param onOver called once, when the time has run out */
  constructor(ms: number, onOver: () => void) {
    this.#leftMs = ms
    this.#onOver = onOver
    this.resume()
  }

  /** Time left in ms. */
  get leftMs(): number {
    const passed = this.#timer === undefined ? 0 : performance.now() - this.#since
    return Math.max(0, this.#leftMs - passed)
  }

  pause(): void {
    if (this.#timer === undefined) return
    this.end()
    this.#leftMs -= performance.now() - this.#since
  }

  resume(): void {
    this.#since = performance.now()
    this.#timer = setTimeout(this.#onOver, Math.max(0, this.#leftMs))
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
