import { createHash } from 'node:crypto'
import { acceptedCodings, UnknownCoding, unpackedBody } from '#outgoing/decompression.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { maxRedirects } from '#specs/resources/web/web-limits.ts'
import { type PageKind, type PageType, pageTypeOf } from '#src/pages/content-type.ts'
import { pageUrlOf } from '#src/pages/page-url.ts'
import { faultRefusal, pageRefusal, requestRefusal } from './page-refusal.ts'
import { RobotsFiles } from './robots-files.ts'

/** Name of the crawler in its user agent, and in the rules of robots.txt. */
export const crawlerName = 'TroupeBot'
const userAgent = `${crawlerName}/1.0 (page reader for agents)`

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
}

/** Validators of a version of a page, for conditional requests. */
export interface PageValidators {
  readonly etag: string | null
  readonly lastModified: string | null
}

/** A fetched page. */
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
}

type Answer = Awaited<ReturnType<SsrfGuard['request']>>

interface Hop {
  readonly answer: Answer
  readonly url: URL
}

/** Kinds of pages that `web.fetch` accepts. */
export const textKinds: ReadonlySet<PageKind> = new Set(['html', 'json', 'xml', 'markdown', 'text'])

/** Kinds of pages from which text can be extracted. */
export const readKinds: ReadonlySet<PageKind> = new Set([...textKinds, 'pdf'])

/** Fetches pages of the public internet. The SSRF guard and the site's robots.txt are checked at every redirect. */
export class PageFetcher {
  readonly #guard: Pick<SsrfGuard, 'request'>
  readonly #now: () => number
  readonly robots: RobotsFiles

  constructor(guard: Pick<SsrfGuard, 'request'>, now: () => number) {
    this.#guard = guard
    this.#now = now
    this.robots = new RobotsFiles({ now, crawler: crawlerName, read: (url, options) => this.#follow(url, options) })
  }

  /** Fetches a page. @throws {ServiceError} with the codes of `web.fetch` */
  async fetch(request: PageRequest): Promise<FetchedPage> {
    const limit = AbortSignal.timeout(request.timeoutMs)
    const signal = AbortSignal.any([request.signal, limit])
    try {
      return await this.#read(request, signal)
    } catch (error) {
      if (limit.aborted && !request.signal.aborted)
        throw pageRefusal('fetch_timeout', { url: request.url, timeoutMs: request.timeoutMs }, { cause: error })
      throw requestRefusal(error, request.url)
    }
  }

  async #read(request: PageRequest, signal: AbortSignal): Promise<FetchedPage> {
    const first = checkedUrl(request.url)
    const allowed = async (url: URL): Promise<void> => {
      if (await this.robots.allows(url, signal)) return
      throw pageRefusal('robots_denied', { url: url.href })
    }
    const { answer, url } = await this.#follow(first, { signal, allowed, headers: conditionsOf(request.known) })
    const header = (name: string): string | null => textOf(answer.headers[name])
    const page = { url: request.url, finalUrl: url.href, statusCode: answer.statusCode, header }
    if (answer.statusCode === 304 && request.known !== undefined) {
      answer.body.destroy()
      const nothing = { bytes: Buffer.alloc(0), contentHash: '', type: null }
      return { ...page, ...nothing, retrievedAt: this.#now(), notModified: true }
    }
    const bytes = await bytesOf(answer, { url, maxBytes: request.maxBytes })
    const type = pageTypeOf(header('content-type'), bytes)
    if (type === null || !request.kinds.has(type.kind))
      throw pageRefusal('unsupported_content_type', { url: url.href, contentType: header('content-type') })
    const contentHash = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
    return { ...page, type, bytes, contentHash, retrievedAt: this.#now(), notModified: false }
  }

  /** Requests a page and follows redirects. Each URL must be that of a page, allowed and public. */
  async #follow(
    first: URL,
    {
      signal,
      allowed,
      headers = {},
    }: {
      readonly signal: AbortSignal
      readonly allowed?: (url: URL) => Promise<void>
      readonly headers?: Readonly<Record<string, string>>
    },
  ): Promise<Hop> {
    let url = first
    for (let hops = 0; ; hops += 1) {
      await allowed?.(url)
      const answer = await this.#requested(url, { ...ownHeaders, ...headers }, signal)
      const { location } = answer.headers
      if (![301, 302, 303, 307, 308].includes(answer.statusCode) || typeof location !== 'string') return { answer, url }
      answer.body.destroy()
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

const ownHeaders = {
  accept: 'text/html,application/xhtml+xml,application/json;q=0.9,text/markdown;q=0.9,text/plain;q=0.8,*/*;q=0.5',
  'accept-encoding': acceptedCodings,
  'accept-language': 'en,*;q=0.5',
  'user-agent': userAgent,
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
