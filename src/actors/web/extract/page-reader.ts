import { contentHashOf } from '#outgoing/content-hash.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { PageKind } from '#src/pages/content-type.ts'
import type { TextFormat } from '#src/parsing/pages/block-writer.ts'
import type { PageParsers } from '#src/parsing/pages/page-parsers.ts'
import type { PageRead } from '#src/parsing/pages/read-page.ts'
import type { ParseOwner } from '#src/parsing/parse-owner.ts'
import { ParserFailed } from '#src/parsing/parser-pool.ts'
import type { JsonObject } from '#storage/index.ts'
import { type FetchedPage, type PageFetcher, type PageValidators, readKinds } from '../fetch/page-fetcher.ts'
import { pageRefusal } from '../fetch/page-refusal.ts'
import { hasScripts, type PageRenders } from './page-renders.ts'

export interface TextRequest {
  /** Whose page it is: owners take turns at the parsers. */
  readonly owner: ParseOwner
  readonly url: string
  readonly maxBytes: number
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly format?: TextFormat
  readonly known?: PageValidators
  /** Whether the page is rendered; absent: it is not. */
  readonly render?: boolean | 'auto'
  /** Waits for the turn of the page's host, as for `PageFetcher`. */
  readonly enter?: (url: URL) => Promise<() => void>
  /** JSON Schema of the data to extract from the page. */
  readonly schema?: JsonObject
}

/** A page and its content; `read` is null when it has not changed since the known version. */
export interface ReadPage {
  readonly page: FetchedPage
  readonly read: (PageRead & { readonly contentHash: string }) | null
}

/** Minimum time for parsing a page after it was fetched, in ms. */
const minMs = 500
/** Maximum length of the text of a page that consists of its scripts, in characters. */
const shellLength = 200

/** A fetched page that may have been rendered. */
export interface RenderablePage {
  readonly page: FetchedPage
  readonly isRendered: boolean
}

export interface ReaderParts {
  readonly pages: Pick<PageFetcher, 'fetch'>
  readonly parsers: PageParsers
  /** Absent: no page is rendered. */
  readonly renders?: Pick<PageRenders, 'rendered'>
}

/** Fetches pages, renders them if required, and parses their texts, within one timeout for fetching and parsing. */
export class PageReader {
  readonly #parts: ReaderParts

  constructor(parts: ReaderParts) {
    this.#parts = parts
  }

  /** Reads a page. @throws {ServiceError} with the codes of `web.extract` */
  async read(request: TextRequest): Promise<ReadPage> {
    const { render = false } = request
    const page = await this.#parts.pages.fetch({ ...request, kinds: readKinds, refusesErrors: true })
    if (page.notModified) return { page, read: null }
    if (render === true && page.type?.kind === 'html') return this.#readAs(await this.#rendered(page, request), request)
    const read = await this.#readAs({ page, isRendered: false }, request)
    if (render !== 'auto' || !isShell(read)) return read
    const rendered = await this.#renderedIfPossible(page, request)
    return rendered === null ? read : this.#readAs(rendered, request)
  }

  /**
   * Fetches a page without parsing it, and renders it if required.
   *
   * @throws {ServiceError} with the codes of `web.fetch`
   */
  async fetch(request: TextRequest & { readonly kinds: ReadonlySet<PageKind> }): Promise<RenderablePage> {
    const { render = false } = request
    const page = await this.#parts.pages.fetch(request)
    const isHtml = page.type?.kind === 'html' && page.statusCode < 300
    if (render === true && isHtml) return this.#rendered(page, request)
    const fetched = { page, isRendered: false }
    if (render !== 'auto' || !isHtml || !hasScripts(page)) return fetched
    if (!isShell(await this.#readAs(fetched, request))) return fetched
    return (await this.#renderedIfPossible(page, request)) ?? fetched
  }

  async #readAs({ page, isRendered }: RenderablePage, request: TextRequest): Promise<ReadPage> {
    const read = await this.#parsed(page, request)
    const metadata = isRendered ? { ...read.metadata, rendered: true } : read.metadata
    return { page, read: { ...read, metadata, contentHash: contentHashOf(read.content) } }
  }

  async #rendered(page: FetchedPage, request: TextRequest): Promise<RenderablePage> {
    const { renders } = this.#parts
    if (renders === undefined) throw new ServiceError('browser_unavailable')
    return { page: await renders.rendered(page, request), isRendered: true }
  }

  /** Null if the page cannot be rendered: the page as fetched is the result then. */
  async #renderedIfPossible(page: FetchedPage, request: TextRequest): Promise<RenderablePage | null> {
    try {
      return await this.#rendered(page, request)
    } catch (error) {
      if (error instanceof ServiceError) return null
      throw error
    }
  }

  async #parsed(
    { bytes, type, finalUrl, url, leftMs }: FetchedPage,
    { format = 'text', schema, owner }: TextRequest,
  ): Promise<PageRead> {
    if (type === null) throw pageRefusal('fetch_failed', { url })
    try {
      return await this.#parts.parsers.read(
        { bytes, type, url: finalUrl, format, ...(schema !== undefined && { schema }) },
        { deadlineMs: Math.max(minMs, leftMs), owner },
      )
    } catch (error) {
      if (!(error instanceof ParserFailed)) throw error
      if (error.reason === 'deadline')
        throw pageRefusal('fetch_timeout', { url }, { message: 'Reading the page took too long.', cause: error })
      const message =
        error.reason === 'busy' ? 'Too many pages are being read at the moment.' : 'The page cannot be read.'
      throw pageRefusal('fetch_failed', { url }, { message, cause: error })
    }
  }
}

/** Whether a page has scripts, and almost no text without them. */
const isShell = ({ page, read }: ReadPage): boolean =>
  read !== null && read.content.length < shellLength && hasScripts(page)

/** Returns the SHA-256 of a text, as `sha256:` and hex. */
