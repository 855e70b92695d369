import { ServiceError } from '#specs/errors/errors.ts'
import { maxViewers } from '#specs/resources/web/browse-limits.ts'

/** Time in ms after which a viewer that neither requested a frame nor left has no place any more: its process ended. */
const goneMs = 15_000

/**
 * Viewers of one page. Each keeps its place while it reads, not only while it waits for a frame: otherwise the number
 * of those admitted would depend on how often the page repaints.
 */
export class Viewers {
  readonly #seen = new Map<string, number>()
  readonly #now: () => number

  /** @param now monotonic ms */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Notes that a viewer reads on, or admits it. @throws {ServiceError} `rate_limit_exceeded` */
  take(viewer: string): void {
    const now = this.#now()
    for (const [other, seen] of this.#seen) if (now - seen > goneMs) this.#seen.delete(other)
    if (!this.#seen.has(viewer) && this.#seen.size >= maxViewers)
      throw new ServiceError('rate_limit_exceeded', { retryAfterS: 5 })
    this.#seen.set(viewer, now)
  }

  leave(viewer: string): void {
    this.#seen.delete(viewer)
  }
}
