/** Counts the open answers and sockets of a server, so that a shutdown can wait for them. */
export class OpenWork {
  #open = 0
  #idle: (() => void) | null = null

  begin(): void {
    this.#open++
  }

  end(): void {
    this.#open--
    if (this.#open === 0) this.#idle?.()
  }

  /** Resolves when none are open, at the latest after `graceMs`. */
  settled(graceMs: number): Promise<void> {
    if (this.#open === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, graceMs)
      this.#idle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
