import type { PageRenderer } from '#actors/capability/page-renderer.ts'
import { contentHashOf } from '#outgoing/content-hash.ts'
import { maxRenderedLength } from '#specs/resources/web/web-limits.ts'
import type { ParseOwner } from '#src/parsing/parse-owner.ts'
import { type FetchedPage, type PageFetcher, userAgentOf } from '../fetch/page-fetcher.ts'

export interface RenderingParts {
  readonly pages: Pick<PageFetcher, 'requireAllowed'>
  /** Absent: this server renders no pages. */
  readonly renderer: () => PageRenderer
  /** Contact in the user agent. */
  readonly contact: string | null
}

/** Who a page is rendered for, and how long it may take. */
export interface RenderFor {
  readonly owner: ParseOwner
  readonly maxBytes: number
  readonly signal: AbortSignal
  readonly enter?: (url: URL) => Promise<() => void>
}

/** Minimum time in ms to render a page that was fetched. */
const minMs = 5_000

/** Renders fetched pages in a browser. */
export class PageRenders {
  readonly #parts: RenderingParts

  constructor(parts: RenderingParts) {
    this.#parts = parts
  }

  /** Returns the page as it is after its scripts have run. @throws {ServiceError} with the codes of `web.fetch` */
  async rendered(page: FetchedPage, { owner, maxBytes, signal, enter }: RenderFor): Promise<FetchedPage> {
    const { pages, renderer, contact } = this.#parts
    const leave = await enter?.(new URL(page.finalUrl))
    try {
      const { finalUrl, html } = await renderer().render({
        ...{ owner, url: page.finalUrl, signal, userAgent: userAgentOf(contact) },
        maxLength: Math.min(maxBytes, maxRenderedLength),
        timeoutMs: Math.max(minMs, page.leftMs),
        allowed: (url) => pages.requireAllowed(url, signal),
      })
      const bytes = Buffer.from(html)
      const contentHash = contentHashOf(bytes)
      return { ...page, finalUrl, bytes, contentHash, type: { mimeType: 'text/html', kind: 'html', charset: 'utf-8' } }
    } finally {
      leave?.()
    }
  }
}

/** Maximum number of script elements that are looked at. */
const maxScripts = 100

/** Whether a page of HTML has scripts that may change it; data in script elements does not. */
export const hasScripts = ({ bytes, type }: Pick<FetchedPage, 'bytes' | 'type'>): boolean => {
  if (type?.kind !== 'html') return false
  const text = bytes.toString('latin1').toLowerCase()
  let at = text.indexOf('<script')
  for (let count = 0; at !== -1 && count < maxScripts; count += 1) {
    if (!/^<script[^>]{0,200}type\s*=\s*["']?application\/(?:ld\+)?json/.test(text.slice(at, at + 300))) return true
    at = text.indexOf('<script', at + 7)
  }
  return at !== -1
}
