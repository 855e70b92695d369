import { type Clock, pause } from '#runtime/clock.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { RobotsFiles } from '../fetch/robots-files.ts'

export interface PaceParts {
  readonly robots: Pick<RobotsFiles, 'of'>
  readonly clock: Clock
}

/** Maximum number of sites whose next time is stored. */
export const maxPaces = 10_000

/** Enforces the `Crawl-delay` of each site across all crawls of this process. */
export class SitePaces {
  readonly #parts: PaceParts
  /** `steady` time from which the next page of an origin may be read, by origin. */
  readonly #next = new Map<string, number>()

  constructor(parts: PaceParts) {
    this.#parts = parts
  }

  /**
   * Waits until a page of the site may be read. There is no wait if the site has no crawl delay or cannot be reached.
   *
   * @param until `steady` time after which it is too late. @returns false when the turn would be later.
   */
  async turn(url: string, signal: AbortSignal, until = Number.POSITIVE_INFINITY): Promise<boolean> {
    if (!URL.canParse(url)) return true
    const { clock } = this.#parts
    const { origin } = new URL(url)
    const delayMs = await this.#delay(new URL(url), signal)
    if (delayMs === 0) return true
    const now = clock.steady()
    const at = Math.max(now, this.#next.get(origin) ?? now)
    if (at > until) return false
    this.#next.delete(origin)
    for (const [oldest] of this.#next) {
      if (this.#next.size < maxPaces) break
      this.#next.delete(oldest)
    }
    this.#next.set(origin, at + delayMs)
    if (at > now) await pause(clock, at - now, signal)
    return true
  }

  /** Returns a site's crawl delay in ms; 0 when its rules cannot be read, as the page request fails with the reason. */
  async #delay(url: URL, signal: AbortSignal): Promise<number> {
    try {
      return (await this.#parts.robots.of(url, signal)).delayMs
    } catch (error) {
      if (error instanceof ServiceError || signal.aborted) return 0
      throw error
    }
  }
}
