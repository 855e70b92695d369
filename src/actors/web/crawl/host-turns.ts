import type { Services } from '#actors/capability/services.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { RobotsFiles } from '../fetch/robots-files.ts'
import { HostQueue, type Turn, type Waiter } from './host-queue.ts'

export interface HostTurnParts extends Pick<Services, 'clock' | 'turns'> {
  readonly robots: Pick<RobotsFiles, 'of'>
  /** Requests at a time to one host, and ms between two of them. */
  readonly pace: { readonly atOnce: number; readonly delayMs: number }
}

export interface TurnRequest {
  /** Crawl to which the request belongs. */
  readonly job: string
  readonly signal: AbortSignal
  /** `steady` time after which it is too late; absent: never. */
  readonly until?: number
}

/** Time in ms after which a turn ends by itself: longer than the timeout of a page. */
const holdMs = 60_000
/** Maximum time in ms for which one answer postpones all crawls of a host. */
export const maxPostponementMs = 3_600_000

/**
 * Turns of crawls at hosts, over all crawls and nodes (specs/decisions/0172-pages-of-the-web.md): few requests at a
 * time, a pause between two, and none while the host has requested a pause. Crawls of the same host take turns.
 */
export class HostTurns {
  readonly #parts: HostTurnParts
  readonly #lines = new Map<string, HostQueue>()

  constructor(parts: HostTurnParts) {
    this.#parts = parts
  }

  /** Waits until a page may be requested. @throws what `signal` was aborted with */
  async enter(url: URL, { job, signal, until = Number.POSITIVE_INFINITY }: TurnRequest): Promise<Turn> {
    const rule = await this.#rule(url, signal)
    signal.throwIfAborted()
    const line = this.#lines.get(url.host) ?? new HostQueue(url.host, this.#parts)
    this.#lines.set(url.host, line)
    const { promise, resolve, reject } = Promise.withResolvers<Turn>()
    const waiter: Waiter = { job, rule, until, settle: resolve }
    const abort = (): void => {
      line.remove(waiter)
      reject(signal.reason)
    }
    signal.addEventListener('abort', abort, { once: true })
    line.add(waiter)
    void line.serve().finally(() => {
      if (line.isEmpty && this.#lines.get(url.host) === line) this.#lines.delete(url.host)
    })
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  /** Postpones all crawls of a host, because it requested a pause. */
  postpone({ host }: URL, ms: number): Promise<void> {
    return this.#parts.turns.postpone(host, Math.min(ms, maxPostponementMs))
  }

  /** A `Crawl-delay` allows one request at a time. */
  async #rule(url: URL, signal: AbortSignal) {
    const { atOnce, delayMs } = this.#parts.pace
    const requested = await this.#delay(url, signal)
    return { atOnce: requested > 0 ? 1 : atOnce, spacingMs: Math.max(delayMs, requested), holdMs }
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
