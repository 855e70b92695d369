/** Attempts that run at a time on a node. */
export interface AttemptLimits {
  readonly ofWebhook: number
  /** Of all webhooks of a project: each holds a socket for as long as its endpoint likes, up to the time of an attempt. */
  readonly ofProject: number
}

/** Whose attempt it is. */
export interface AttemptOf {
  readonly webhook: string
  readonly project: string
}

/**
 * Lets so many attempts of one webhook and of one project run at a time; the others wait in order, so that a slow endpoint holds
 * up no other one's, and the endpoints of one project those of none other.
 */
export class AttemptGate {
  readonly #webhooks: Places
  readonly #projects: Places

  constructor({ ofWebhook, ofProject }: AttemptLimits) {
    this.#webhooks = new Places(ofWebhook)
    this.#projects = new Places(ofProject)
  }

  /** Runs `attempt` when it is its turn; without it when `signal` aborts before. */
  async run<T>(
    { webhook, project }: AttemptOf,
    signal: AbortSignal,
    attempt: () => Promise<T>,
  ): Promise<T | undefined> {
    return this.#webhooks.hold(webhook, signal, () => this.#projects.hold(project, signal, attempt))
  }
}

/** Places by key, given in the order in which they are wanted. */
class Places {
  readonly #most: number
  readonly #taken = new Map<string, number>()
  /** What waits for a place of a key: each takes it, or leaves the line. */
  readonly #lines = new Map<string, Set<() => void>>()

  constructor(most: number) {
    this.#most = most
  }

  async hold<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
    if (!(await this.#take(key, signal))) return undefined
    try {
      return signal.aborted ? undefined : await work()
    } finally {
      this.#give(key)
    }
  }

  /** @returns false when `signal` aborted before there was a place: what is given up waits no longer. */
  #take(key: string, signal: AbortSignal): boolean | Promise<boolean> {
    if (signal.aborted) return false
    const taken = this.#taken.get(key) ?? 0
    if (taken < this.#most) {
      this.#taken.set(key, taken + 1)
      return true
    }
    const line = this.#lines.get(key) ?? new Set()
    this.#lines.set(key, line)
    return new Promise((resolve) => {
      const leave = (): void => {
        line.delete(enter)
        if (line.size === 0 && this.#lines.get(key) === line) this.#lines.delete(key)
        resolve(false)
      }
      const enter = (): void => {
        signal.removeEventListener('abort', leave)
        resolve(true)
      }
      line.add(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  /** The place goes to the next in line, or is given up. */
  #give(key: string): void {
    const line = this.#lines.get(key)
    const [next] = line ?? []
    if (next !== undefined) {
      line?.delete(next)
      if (line?.size === 0) this.#lines.delete(key)
      next()
      return
    }
    const taken = (this.#taken.get(key) ?? 1) - 1
    if (taken === 0) this.#taken.delete(key)
    else this.#taken.set(key, taken)
  }
}
