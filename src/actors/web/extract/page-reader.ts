import { createHash } from 'node:crypto'
import type { LineOwner } from '#src/parsing/fair-line.ts'
import type { TextFormat } from '#src/parsing/pages/block-writer.ts'
import type { PageRooms } from '#src/parsing/pages/page-rooms.ts'
import type { PageRead } from '#src/parsing/pages/read-page.ts'
import { ParserFailed } from '#src/parsing/parser-pool.ts'
import type { JsonObject } from '#storage/ports.ts'
import { type FetchedPage, type PageFetcher, type PageValidators, readKinds } from '../fetch/page-fetcher.ts'
import { pageRefusal } from '../fetch/page-refusal.ts'

/** A request for the text of a page. */
export interface TextRequest {
  /** Whose page it is: owners take turns at the parsers. */
  readonly owner: LineOwner
  readonly url: string
  readonly maxBytes: number
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly format?: TextFormat
  readonly known?: PageValidators
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
const leastMs = 500

/** Fetches pages and parses their texts, within one timeout for both. */
export class PageReader {
  readonly #pages: PageFetcher
  readonly #rooms: PageRooms

  constructor(parts: { readonly pages: PageFetcher; readonly rooms: PageRooms }) {
    this.#pages = parts.pages
    this.#rooms = parts.rooms
  }

  /** Reads a page. @throws {ServiceError} with the codes of `web.extract` */
  async read({ format = 'text', schema, owner, ...request }: TextRequest): Promise<ReadPage> {
    const page = await this.#pages.fetch({ ...request, kinds: readKinds, refusesErrors: true })
    if (page.notModified) return { page, read: null }
    const read = await this.#parsed(page, { format, schema, owner, left: Math.max(leastMs, page.leftMs) })
    return { page, read: { ...read, contentHash: hashOf(read.content) } }
  }

  async #parsed(
    { bytes, type, finalUrl, url }: FetchedPage,
    {
      format,
      schema,
      owner,
      left,
    }: Required<Pick<TextRequest, 'format' | 'owner'>> & {
      readonly schema: JsonObject | undefined
      readonly left: number
    },
  ): Promise<PageRead> {
    if (type === null) throw pageRefusal('fetch_failed', { url })
    try {
      return await this.#rooms.read(
        { bytes, type, url: finalUrl, format, ...(schema !== undefined && { schema }) },
        { deadlineMs: left, owner },
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

/** Returns the SHA-256 of a text, as `sha256:` and hex. */
export const hashOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
