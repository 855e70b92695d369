import { unpackedBody } from '#outgoing/decompression.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { type Clock, pause } from '#runtime/index.ts'
import { backoffMs } from '#runtime/internal.ts'
import type { ServiceError } from '#specs/errors/errors.ts'
import { retryAfterMs } from '#src/pages/retry-after.ts'
import { allowsAll, maxRobotsBytes, type RobotsRules, robotsOf, unreachable } from '#src/pages/robots.ts'
import { requestRefusal } from './page-refusal.ts'

type Answer = Awaited<ReturnType<SsrfGuard['request']>>

export interface RobotsParts {
  readonly clock: Clock
  readonly crawler: string
  /** Requests a URL through the SSRF guard and follows its redirects. */
  readonly read: (url: URL, options: { readonly signal: AbortSignal }) => Promise<{ readonly answer: Answer }>
}

interface Kept {
  readonly rules: Promise<RobotsRules>
  until: number
  /** Number of times in a row that the file could not be read. */
  failures: number
}

/** Result of one attempt: the rules, or the time that the site wants to pass before the next one, if it says so. */
type Attempt = { readonly rules: RobotsRules } | { readonly rules: null; readonly requestedMs: number | null }

/** Time in ms for which rules are cached (at most a day: RFC 9309, section 2.4), and for which failures are. */
const keepMs = { read: 60 * 60_000, failed: 30_000, maxFailed: 10 * 60_000 } as const
const timeoutMs = 5_000
/** Attempts to read a file, and the pauses between them in ms: those that a site requests are limited. */
const attempts = 3
const pauseMs = { first: 250, max: 2_000 } as const

/** Maximum number of sites whose rules are cached. */
const maxSites = 1_000

/**
 * The robots.txt files of sites, cached for an hour. While a file cannot be read again, its earlier rules apply; without
 * such rules nothing of the site may be fetched, and the file is requested again at growing intervals.
 */
export class RobotsFiles {
  readonly #parts: RobotsParts
  readonly #sites = new Map<string, Kept>()

  constructor(parts: RobotsParts) {
    this.#parts = parts
  }

  /** Whether a page may be read. @throws {ServiceError} when the site cannot be reached at all */
  async allows(url: URL, signal: AbortSignal): Promise<boolean> {
    return (await this.of(url, signal)).allows(url)
  }

  /** Returns the rules of a URL's site. @throws {ServiceError} */
  async of({ origin }: URL, signal: AbortSignal): Promise<RobotsRules> {
    const rules = this.#kept(origin).rules
    signal.throwIfAborted()
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await Promise.race([rules, aborted])
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  /** Returns the ms after which a file that could not be read is requested again. */
  retryMs({ origin }: URL): number {
    const { clock } = this.#parts
    return Math.max(0, (this.#sites.get(origin)?.until ?? 0) - clock.now())
  }

  #kept(origin: string): Kept {
    const { clock } = this.#parts
    const known = this.#sites.get(origin)
    if (known !== undefined && known.until > clock.now()) return known
    this.#sites.delete(origin)
    for (const oldest of this.#sites.keys()) {
      if (this.#sites.size < maxSites) break
      this.#sites.delete(oldest)
    }
    const fresh = this.#read(origin)
    const rules = fresh.then(async (read) => read ?? (await known?.rules.catch(() => undefined)) ?? unreachable)
    const kept: Kept = { rules, until: clock.now() + keepMs.read, failures: 0 }
    this.#sites.set(origin, kept)
    fresh.then(
      (read) => {
        if (read !== null) return
        kept.failures = (known?.failures ?? 0) + 1
        kept.until = clock.now() + backoffMs(kept.failures - 1, keepMs.failed, keepMs.maxFailed)
      },
      () => {
        if (this.#sites.get(origin) === kept) this.#sites.delete(origin)
      },
    )
    return kept
  }

  /** Reads a site's rules in a few attempts; null when all fail. */
  async #read(origin: string): Promise<RobotsRules | null> {
    const { clock } = this.#parts
    const url = new URL('/robots.txt', origin)
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const found = await this.#attempt(url)
      if (found.rules !== null) return found.rules
      const requested = found.requestedMs ?? backoffMs(attempt, pauseMs.first, pauseMs.max)
      if (requested > pauseMs.max) break
      if (attempt < attempts - 1) await pause(clock, requested)
    }
    return null
  }

  /** A missing file allows all, a failing server nothing (RFC 9309, section 2.3.1). */
  async #attempt(url: URL): Promise<Attempt> {
    const { clock, crawler, read } = this.#parts
    try {
      const { answer } = await read(url, { signal: AbortSignal.timeout(timeoutMs) })
      const { statusCode, headers, body } = answer
      if (statusCode >= 200 && statusCode < 300) {
        const coding = headers['content-encoding']
        const { bytes } = await unpackedBody(body, { coding: coding?.toString(), maxBytes: maxRobotsBytes })
        return { rules: robotsOf(new TextDecoder().decode(bytes), crawler) }
      }
      body.destroy()
      if (statusCode < 500 && statusCode !== 429) return { rules: allowsAll }
      return { rules: null, requestedMs: retryAfterMs(headers['retry-after']?.toString() ?? null, clock.now()) }
    } catch (error) {
      const refusal = requestRefusal(error, url.href)
      // when a site cannot be reached at all, the request for the page fails with the reason
      if (isOwn(refusal, url)) throw refusal
      // a site that is silent, or redirects to where nothing may be requested, gets no further attempt now
      return { rules: null, requestedMs: refusal.code === 'fetch_failed' ? null : Number.POSITIVE_INFINITY }
    }
  }
}

const isOwn = ({ code, details }: ServiceError, url: URL): boolean =>
  (code === 'unsafe_url' || code === 'dns_unavailable') && details.extra?.url === url.href
