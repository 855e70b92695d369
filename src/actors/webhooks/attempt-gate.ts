import type { AttemptLines } from './attempt-lines.ts'

/** Most concurrent attempts on a node. */
export interface AttemptLimits {
  readonly ofWebhook: number
  /** Of all webhooks of a project. Each attempt holds a socket until its endpoint responds or the attempt times out. */
  readonly ofProject: number
}

/** The webhook and project of an attempt. */
export interface AttemptOf {
  readonly webhook: string
  readonly project: string
}

/** Result for an attempt that finds the line full: try again after `delayMs`. */
export interface Postponed {
  readonly delayMs: number
}

/**
 * Limits the concurrent attempts per webhook and per project. Other attempts wait in order, so that a slow endpoint
 * does not delay other endpoints, and the endpoints of a project do not delay other projects. A limited number waits
 * here; the others are postponed.
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

  /**
   * Runs `attempt` when its turn comes, or postpones it. Returns undefined without running it when `signal` aborts
   * before that.
   */
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

/** Semaphores by key; slots are granted in the order of requests. */
class Places {
  readonly #most: number
  readonly #taken = new Map<string, number>()
  /** Waiting requests by key: each gets a slot, or leaves the line when it is aborted. */
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

  /** @returns false when `signal` aborted before a slot was free; an aborted request stops waiting. */
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

  /** Hands the slot to the next in line, or releases it. */
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
