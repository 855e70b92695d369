import { unpackedBody } from '#outgoing/decompression.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import type { ServiceError } from '#specs/errors/errors.ts'
import { allowsAll, allowsNone, maxRobotsBytes, type RobotsRules, robotsOf } from '#src/pages/robots.ts'
import { requestRefusal } from './page-refusal.ts'

type Answer = Awaited<ReturnType<SsrfGuard['request']>>

export interface RobotsParts {
  readonly now: () => number
  readonly crawler: string
  /** Requests a URL through the SSRF guard and follows its redirects. */
  readonly read: (url: URL, options: { readonly signal: AbortSignal }) => Promise<{ readonly answer: Answer }>
}

interface Kept {
  readonly rules: Promise<RobotsRules>
  until: number
}

/** Time in ms for which rules are cached, and for which a failure is. At most a day (RFC 9309, section 2.4). */
const keepMs = { read: 60 * 60_000, failed: 30_000 } as const
const timeoutMs = 5_000

/** Maximum number of sites whose rules are cached. */
export const maxSites = 1_000

/** The robots.txt files of sites, cached for an hour. */
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

  #kept(origin: string): Kept {
    const { now } = this.#parts
    const known = this.#sites.get(origin)
    if (known !== undefined && known.until > now()) return known
    this.#sites.delete(origin)
    for (const oldest of this.#sites.keys()) {
      if (this.#sites.size < maxSites) break
      this.#sites.delete(oldest)
    }
    const kept: Kept = { rules: this.#read(origin), until: now() + keepMs.read }
    this.#sites.set(origin, kept)
    kept.rules.then(
      (rules) => {
        if (rules === allowsNone) kept.until = now() + keepMs.failed
      },
      () => {
        if (this.#sites.get(origin) === kept) this.#sites.delete(origin)
      },
    )
    return kept
  }

  /** Reads a site's rules. A missing file allows all, a failing server nothing (RFC 9309, section 2.3.1). */
  async #read(origin: string): Promise<RobotsRules> {
    const signal = AbortSignal.timeout(timeoutMs)
    const url = new URL('/robots.txt', origin)
    try {
      const { answer } = await this.#parts.read(url, { signal })
      const { statusCode, headers, body } = answer
      if (statusCode >= 200 && statusCode < 300) {
        const coding = headers['content-encoding']
        const { bytes } = await unpackedBody(body, { coding: coding?.toString(), maxBytes: maxRobotsBytes })
        return robotsOf(new TextDecoder().decode(bytes), this.#parts.crawler)
      }
      body.destroy()
      return statusCode >= 500 || statusCode === 429 ? allowsNone : allowsAll
    } catch (error) {
      const refusal = requestRefusal(error, url.href)
      // when a site cannot be reached at all, the request for the page fails with the reason
      if (isOwn(refusal, url)) throw refusal
      return allowsNone
    }
  }
}

const isOwn = ({ code, details }: ServiceError, url: URL): boolean =>
  (code === 'unsafe_url' || code === 'dns_unavailable') && details.extra?.url === url.href
