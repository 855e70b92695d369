import { FairSemaphore } from '#src/concurrency/fair-semaphore.ts'
import { EndpointPaces, type PaceParts } from './endpoint-paces.ts'

/** Maximum numbers of concurrent or waiting attempts on a node. */
export interface AttemptCounts {
  readonly ofWebhook: number
  /** Of all webhooks of a project. Each attempt holds a socket until its endpoint responds or the attempt times out. */
  readonly ofProject: number
  readonly ofNode: number
}

/** Limits of the attempts on a node. */
export interface AttemptLimits {
  readonly running: Omit<AttemptCounts, 'ofNode'>
  readonly waiting: AttemptCounts
}

/** The webhook and project of an attempt. */
export interface AttemptOf {
  readonly webhook: string
  readonly project: string
}

/** Result for an attempt that finds too many waiting: try again after `delayMs`. */
export interface Postponed {
  readonly delayMs: number
}

/**
 * Limits the concurrent attempts per webhook and per project. Other attempts wait in order, so that a slow endpoint
 * does not delay other endpoints, and the endpoints of a project do not delay other projects. A limited number waits
 * here; the others are postponed.
 */
export class AttemptGate {
  readonly #turns: FairSemaphore<AttemptOf>
  readonly #paces: EndpointPaces
  readonly #steady: () => number

  constructor({ running, waiting }: AttemptLimits, { steady, random }: Omit<PaceParts, 'atOnce'>) {
    this.#turns = new FairSemaphore({
      path: ({ project, webhook }) => [project, webhook],
      running: [Number.POSITIVE_INFINITY, running.ofProject, running.ofWebhook],
      waiting: [waiting.ofNode, waiting.ofProject, waiting.ofWebhook],
    })
    this.#paces = new EndpointPaces({ atOnce: running.ofWebhook, steady, random })
    this.#steady = steady
  }

  get waiting(): number {
    return this.#turns.waiting
  }

  /**
   * Runs `attempt` when its turn comes, or postpones it. Returns undefined without running it when `signal` aborts
   * before that.
   */
  async run<T>(of: AttemptOf, signal: AbortSignal, attempt: () => Promise<T>): Promise<T | Postponed | undefined> {
    if (this.#turns.isFull(of)) return { delayMs: this.#paces.delay(of.webhook, this.#turns.waitingOf(of)) }
    let hasBegun = false
    const timed = async (): Promise<T> => {
      hasBegun = true
      const from = this.#steady()
      try {
        return await attempt()
      } finally {
        this.#paces.ended(of.webhook, this.#steady() - from)
      }
    }
    try {
      return await this.#turns.run(of, timed, signal)
    } catch (error) {
      if (!hasBegun && signal.aborted) return undefined
      throw error
    }
  }
}
