import { contentHashOf } from '#outgoing/content-hash.ts'
import { acceptedCodings, UnknownCoding, unpackedBody } from '#outgoing/decompression.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import type { Clock } from '#runtime/index.ts'
import { WorkTime } from '#runtime/internal.ts'
import { maxRedirects } from '#specs/resources/web/web-limits.ts'
import { type PageKind, type PageType, pageTypeOf } from '#src/pages/content-type.ts'
import { pageUrlOf } from '#src/pages/page-url.ts'
import { retryAfterMs } from '#src/pages/retry-after.ts'
import {
  faultRefusal,
  PageGone,
  PagePostponed,
  pageRefusal,
  RobotsUnreachable,
  requestRefusal,
  SiteBusy,
} from './page-refusal.ts'
import { RobotsFiles } from './robots-files.ts'

/** Name of the crawler in its user agent, and in the rules of robots.txt. */
const crawlerName = 'TroupeBot'

/** Returns the user agent. @param contact URL or e-mail address for the owners of sites; null: none. */
export const userAgentOf = (contact: string | null): string =>
  `${crawlerName}/1.0 (${contact === null ? 'page reader for agents' : `+${contact}`})`

/** A page to fetch. */
export interface PageRequest {
  readonly url: string
  readonly maxBytes: number
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Accepted kinds of pages. */
  readonly kinds: ReadonlySet<PageKind>
  /** Validators of the known version, with which the server can respond that the page has not changed. */
  readonly known?: PageValidators
  /** Whether a status that is not of success fails. */
  readonly refusesErrors?: true
  /**
   * Waits until a URL may be requested, and returns what ends its turn; absent: no wait. The wait does not count towards
   * the timeout.
   */
  readonly enter?: (url: URL) => Promise<() => void>
}

/** Validators of a version of a page, for conditional requests. */
export interface PageValidators {
  readonly etag: string | null
  readonly lastModified: string | null
}

export interface FetchedPage {
  readonly url: string
  readonly finalUrl: string
  readonly statusCode: number
  /** Null when `notModified` is true. */
  readonly type: PageType | null
  readonly bytes: Buffer
  readonly contentHash: string
  /** ms since the epoch. */
  readonly retrievedAt: number
  readonly header: (name: string) => string | null
  readonly notModified: boolean
  /** What is left of the timeout, in ms. */
  readonly leftMs: number
}

type Answer = Awaited<ReturnType<SsrfGuard['request']>>

interface Hop {
  readonly answer: Answer
  readonly url: URL
  /** Ends the turn of the request. */
  readonly leave: () => void
}

interface HopOptions {
  readonly signal: AbortSignal
  /** Waits until a URL may be requested, and returns what ends its turn. @throws {ServiceError} when it may not */
  readonly enter?: (url: URL) => Promise<() => void>
  readonly headers?: Readonly<Record<string, string>>
}

/** Kinds of pages that `web.fetch` accepts. */
export const textKinds: ReadonlySet<PageKind> = new Set(['html', 'json', 'xml', 'markdown', 'text'])

/** Kinds of pages from which text can be extracted. */
export const readKinds: ReadonlySet<PageKind> = new Set([...textKinds, 'pdf'])

export interface FetcherParts {
  readonly guard: Pick<SsrfGuard, 'request'>
  readonly clock: Clock
  /** URL or e-mail address in the user agent; null or absent: none. */
  readonly contact?: string | null
}

/** Fetches pages of the public internet. The SSRF guard and the site's robots.txt are checked at every redirect. */
export class PageFetcher {
  readonly #guard: Pick<SsrfGuard, 'request'>
  readonly #clock: Clock
  readonly #headers: Readonly<Record<string, string>>
  readonly robots: RobotsFiles

  constructor({ guard, clock, contact = null }: FetcherParts) {
    this.#guard = guard
    this.#clock = clock
    this.#headers = { ...accepted, 'user-agent': userAgentOf(contact) }
    const read = (url: URL, options: { readonly signal: AbortSignal }) => this.#follow(url, options)
    this.robots = new RobotsFiles({ clock, crawler: crawlerName, read })
  }

  /** Fetches a page. @throws {ServiceError} with the codes of `web.fetch`, and what `enter` throws */
  async fetch(request: PageRequest): Promise<FetchedPage> {
    const limit = new AbortController()
    const time = new WorkTime(request.timeoutMs, () => limit.abort())
    try {
      return await this.#read(request, { time, signal: AbortSignal.any([request.signal, limit.signal]) })
    } catch (error) {
      if (limit.signal.aborted && !request.signal.aborted)
        throw pageRefusal('fetch_timeout', { url: request.url, timeoutMs: request.timeoutMs }, { cause: error })
      throw error instanceof PagePostponed ? error : requestRefusal(error, request.url)
    } finally {
      time.end()
    }
  }

  async #read(
    request: PageRequest,
    { time, signal }: { readonly time: WorkTime; readonly signal: AbortSignal },
  ): Promise<FetchedPage> {
    const first = checkedUrl(request.url)
    const enter = (url: URL): Promise<() => void> => this.#entered(url, { request, time, signal })
    const hop = await this.#follow(first, { signal, enter, headers: conditionsOf(request.known) })
    try {
      return await this.#page(request, hop, time)
    } finally {
      hop.leave()
    }
  }

  async #page(request: PageRequest, { answer, url }: Hop, time: WorkTime): Promise<FetchedPage> {
    const header = (name: string): string | null => textOf(answer.headers[name])
    const page = { url: request.url, finalUrl: url.href, statusCode: answer.statusCode, header }
    if (answer.statusCode === 304 && request.known !== undefined) {
      answer.body.destroy()
      const nothing = { bytes: Buffer.alloc(0), contentHash: '', type: null, leftMs: 0 }
      return { ...page, ...nothing, retrievedAt: this.#clock.now(), notModified: true }
    }
    if (request.refusesErrors === true && answer.statusCode >= 300) {
      answer.body.destroy()
      throw this.#statusRefusal(page)
    }
    const bytes = await bytesOf(answer, { url, maxBytes: request.maxBytes })
    const type = pageTypeOf(header('content-type'), bytes)
    if (type === null || !request.kinds.has(type.kind))
      throw pageRefusal('unsupported_content_type', { url: url.href, contentType: header('content-type') })
    const contentHash = contentHashOf(bytes)
    const retrievedAt = this.#clock.now()
    return { ...page, type, bytes, contentHash, retrievedAt, notModified: false, leftMs: time.leftMs }
  }

  #statusRefusal({ finalUrl, statusCode, header }: Pick<FetchedPage, 'finalUrl' | 'statusCode' | 'header'>): Error {
    if (statusCode === 429 || statusCode === 503)
      return new SiteBusy({ finalUrl, statusCode, requestedMs: retryAfterMs(header('retry-after'), this.#clock.now()) })
    if (statusCode === 404 || statusCode === 410) return new PageGone({ finalUrl, statusCode })
    const message = `The page responded with status ${statusCode}.`
    return pageRefusal('fetch_failed', { url: finalUrl, statusCode }, { message })
  }

  /** Checks the site's rules, and waits for a turn if the request has any. */
  async #entered(
    url: URL,
    { request, time, signal }: { readonly request: PageRequest; readonly time: WorkTime; readonly signal: AbortSignal },
  ): Promise<() => void> {
    if (request.enter !== undefined) time.pause()
    try {
      await this.requireAllowed(url, signal)
      return (await request.enter?.(url)) ?? nothing
    } finally {
      if (request.enter !== undefined) time.resume()
    }
  }

  /** Checks the robots.txt of a URL's site. @throws {ServiceError} */
  async requireAllowed(url: URL, signal: AbortSignal): Promise<void> {
    const rules = await this.robots.of(url, signal)
    if (rules.allows(url)) return
    if (rules.isUnreachable === true) throw new RobotsUnreachable(url.href, this.robots.retryMs(url))
    throw pageRefusal('robots_denied', { url: url.href })
  }

  /** Requests a page and follows redirects. Each URL must be that of a page, allowed and public. */
  async #follow(first: URL, { signal, enter, headers = {} }: HopOptions): Promise<Hop> {
    let url = first
    for (let hops = 0; ; hops += 1) {
      const leave = (await enter?.(url)) ?? nothing
      const answer = await this.#requested(url, { ...this.#headers, ...headers }, signal).catch((error: unknown) => {
        leave()
        throw error
      })
      const { location } = answer.headers
      if (![301, 302, 303, 307, 308].includes(answer.statusCode) || typeof location !== 'string')
        return { answer, url, leave }
      answer.body.destroy()
      leave()
      if (hops >= maxRedirects)
        throw pageRefusal(
          'fetch_failed',
          { url: first.href },
          { message: `The page redirects more than ${maxRedirects} times.` },
        )
      url = checkedUrl(location, url.href)
    }
  }

  /** Requests one URL. An error names this URL, not the first one of the redirects. */
  async #requested(url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer> {
    try {
      return await this.#guard.request(url.href, { kind: 'web_page', method: 'GET', headers, signal, maxRedirects: 0 })
    } catch (error) {
      throw signal.aborted ? error : requestRefusal(error, url.href)
    }
  }
}

const nothing = (): void => {}

const accepted = {
  accept: 'text/html,application/xhtml+xml,application/json;q=0.9,text/markdown;q=0.9,text/plain;q=0.8,*/*;q=0.5',
  'accept-encoding': acceptedCodings,
  'accept-language': 'en,*;q=0.5',
}

const conditionsOf = (known: PageValidators | undefined): Readonly<Record<string, string>> => ({
  ...(known?.etag != null && { 'if-none-match': known.etag }),
  ...(known?.lastModified != null && { 'if-modified-since': known.lastModified }),
})

/** Parses the URL of a page. @throws {ServiceError} `invalid_url`, `unsafe_url` */
const checkedUrl = (text: string, base?: string): URL => {
  const url = pageUrlOf(text, base)
  if (typeof url === 'string') throw faultRefusal(url, text)
  return url
}

const bytesOf = async (
  { headers, body }: Answer,
  { url, maxBytes }: { readonly url: URL; readonly maxBytes: number },
): Promise<Buffer> => {
  const coding = textOf(headers['content-encoding']) ?? undefined
  try {
    const { bytes, isCut } = await unpackedBody(body, { coding, maxBytes })
    if (isCut) throw pageRefusal('response_too_large', { url: url.href, maxBytes })
    return bytes
  } catch (error) {
    if (!(error instanceof UnknownCoding)) throw error
    throw pageRefusal('unsupported_content_type', { url: url.href, contentEncoding: coding ?? null }, { cause: error })
  }
}

const textOf = (header: string | readonly string[] | undefined): string | null =>
  typeof header === 'string' ? header : (header?.join(', ') ?? null)
