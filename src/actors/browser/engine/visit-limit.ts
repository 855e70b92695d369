import type { BrowserRequest } from '#machines/browser-job/browser-job.ts'
import { WorkTime } from '#runtime/internal.ts'

/** Maximum time in ms that an action of each type takes, in addition to the time that `waitFor` names. */
const actionMs = {
  ...{ click: 30_000, type: 20_000, press: 20_000, select: 20_000, waitFor: 10_000, handOver: 10_000 },
} as const
/** Maximum time in ms beyond the limit, in which a page that responds is read. */
const maxBeyondMs = 120_000
const probeMs = 5_000

/** Time in ms in which a page must respond once the limit is over. */
export const answerMs = 2_000

/** Returns the time that a visit may take, in ms: that of its navigation and its actions. */
const limitOf = ({ timeout_ms, actions }: Pick<BrowserRequest, 'timeout_ms' | 'actions'>): number =>
  actions.reduce((sum, { type, milliseconds = 0 }) => sum + actionMs[type] + milliseconds, timeout_ms)

export interface VisitLimitOptions {
  /** Whether the page responds within `answerMs`. Never rejects. */
  readonly isAnswering: () => Promise<boolean>
  /** Called once, when the visit must end. */
  readonly over: (message: string) => void
}

/**
 * Limits the time of a visit. A page that runs an endless script ends it within seconds of the limit; one that responds
 * may still be read, and is probed again.
 */
export class VisitLimit {
  readonly #options: VisitLimitOptions
  #time: WorkTime
  #isOver = false

  constructor(request: Pick<BrowserRequest, 'timeout_ms' | 'actions'>, options: VisitLimitOptions) {
    this.#options = options
    this.#time = new WorkTime(limitOf(request), () => void this.#probe(maxBeyondMs))
  }

  /** Stops the time while a person is waited for. */
  pause(): void {
    this.#time.pause()
  }

  resume(): void {
    if (!this.#isOver) this.#time.resume()
  }

  end(): void {
    this.#isOver = true
    this.#time.end()
  }

  async #probe(leftMs: number): Promise<void> {
    const isAnswering = leftMs > 0 && (await this.#options.isAnswering())
    if (this.#isOver) return
    if (isAnswering) this.#time = new WorkTime(probeMs, () => void this.#probe(leftMs - probeMs))
    else this.#options.over(leftMs > 0 ? 'The page does not respond.' : 'The job took too long.')
  }
}
