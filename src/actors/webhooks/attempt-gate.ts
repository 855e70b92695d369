import type { AttemptLines } from './attempt-lines.ts'

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

/** The line is full: the attempt is made later, after so many ms. */
export interface Postponed {
  readonly delayMs: number
}

/**
 * Lets so many attempts of one webhook and of one project run at a time; the others wait in order, so that a slow endpoint holds
 * up no other one's, and the endpoints of one project those of none other. So many wait here; the others are postponed.
 */
export class AttemptGate {
  readonly #webhooks: Places
  readonly #projects: Places
  readonly #lines: AttemptLines
  readonly #steady: () => number

  constructor({ ofWebhook, ofProject }: AttemptLimits, lines: AttemptLines, steady: () => number) {
    this.#webhooks = new Places(ofWebhook)
    this.#projects = new Places(ofProject)
    this.#lines = lines
    this.#steady = steady
  }

  /** Runs `attempt` when it is its turn, or postpones it; without it when `signal` aborts before. */
  async run<T>(of: AttemptOf, signal: AbortSignal, attempt: () => Promise<T>): Promise<T | Postponed | undefined> {
    const { webhook, project } = of
    const isFree = this.#webhooks.isFree(webhook) && this.#projects.isFree(project)
    if (!isFree && this.#lines.isFull(of)) return { delayMs: this.#lines.delay(of) }
    let waits = false
    const enter = (): void => {
      if (!waits) this.#lines.enter(of)
      waits = true
    }
    const leave = (): void => {
      if (waits) this.#lines.leave(of)
      waits = false
    }
    if (!isFree) enter()
    const timed = async (): Promise<T> => {
      leave()
      const from = this.#steady()
      try {
        return await attempt()
      } finally {
        this.#lines.ended(webhook, this.#steady() - from)
      }
    }
    try {
      return await this.#webhooks.hold(webhook, signal, () => {
        if (!this.#projects.isFree(project)) enter()
        return this.#projects.hold(project, signal, timed)
      })
    } finally {
      leave()
    }
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

  isFree(key: string): boolean {
    return (this.#taken.get(key) ?? 0) < this.#most
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
