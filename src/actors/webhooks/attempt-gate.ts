/** Lets so many attempts of one webhook run at a time; the others wait in order, so that a slow endpoint holds up no other one's. */
export class AttemptGate {
  readonly #most: number
  readonly #running = new Map<string, number>()
  readonly #waiting = new Map<string, (() => void)[]>()

  constructor(most: number) {
    this.#most = most
  }

  /** Runs `attempt` when it is its turn; without it when `signal` aborts before. */
  async run<T>(webhook: string, signal: AbortSignal, attempt: () => Promise<T>): Promise<T | undefined> {
    await this.#turn(webhook)
    try {
      return signal.aborted ? undefined : await attempt()
    } finally {
      this.#done(webhook)
    }
  }

  #turn(webhook: string): Promise<void> | undefined {
    const running = this.#running.get(webhook) ?? 0
    if (running < this.#most) {
      this.#running.set(webhook, running + 1)
      return undefined
    }
    const waiting = this.#waiting.get(webhook) ?? []
    this.#waiting.set(webhook, waiting)
    return new Promise((resolve) => waiting.push(resolve))
  }

  /** The place goes to the next in line, or is given up. */
  #done(webhook: string): void {
    const next = this.#waiting.get(webhook)?.shift()
    if (next !== undefined) {
      next()
      return
    }
    this.#waiting.delete(webhook)
    const running = (this.#running.get(webhook) ?? 1) - 1
    if (running === 0) this.#running.delete(webhook)
    else this.#running.set(webhook, running)
  }
}
