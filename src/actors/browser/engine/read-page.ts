import { createHash } from 'node:crypto'
import type { BrowserContext, Page } from 'playwright'
import { isObject } from '#runtime/schema.ts'
import type { Json } from '#storage/ports.ts'
import { parsedJson } from './schema.ts'

/** Content of a page. */
export interface PageRead {
  readonly finalUrl: string
  readonly title: string | null
  readonly language: string | null
  /** Visible text of the page. */
  readonly content: string
  readonly contentHash: string
  readonly links: readonly { readonly url: string; readonly text: string }[]
  readonly evidenceSpans: readonly EvidenceSpan[]
}

/** A passage of the content. Offsets are in UTF-16 code units. */
export interface EvidenceSpan {
  readonly id: string
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Maximum number of characters of the content that are kept. */
export const maxContentLength = 500_000
const maxLinks = 500
const maxSpans = 200
const maxSpanLength = 1_000
/** Maximum time to read a page, in ms. */
const readMs = 15_000
/** Maximum number of attempts to read a page that navigates while it is read. */
const mostReads = 4
/** Maximum time in ms to wait for the next page to load. */
const nextMs = 10_000
const idLength = 26

/** Reads the content of a page, in an isolated world that the page's scripts cannot influence. */
export const readPage = async (context: BrowserContext, page: Page): Promise<PageRead> => {
  for (let reads = 1; ; reads++) {
    try {
      return await readOnce(context, page)
    } catch (error) {
      if (reads === mostReads || page.isClosed()) throw error
      await page.waitForLoadState('load', { timeout: nextMs }).catch(() => {})
    }
  }
}

const readOnce = async (context: BrowserContext, page: Page): Promise<PageRead> => {
  const session = await context.newCDPSession(page)
  try {
    const { frameTree } = await session.send('Page.getFrameTree')
    const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id })
    const { result } = await session.send('Runtime.evaluate', {
      expression: reader,
      contextId: executionContextId,
      returnByValue: true,
      timeout: readMs,
    })
    return readOf(page.url(), String(result.value ?? ''))
  } finally {
    await session.detach().catch(() => {})
  }
}

const readOf = (finalUrl: string, text: string): PageRead => {
  const read = parsedJson(text)
  const { title, language, content, links } = isObject(read) ? read : {}
  const shown = wellFormed(content) ?? ''
  const contentHash = createHash('sha256').update(shown).digest('hex')
  return {
    finalUrl,
    title: wellFormed(title) || null,
    language: wellFormed(language) || null,
    content: shown,
    contentHash,
    links: (Array.isArray(links) ? links : []).flatMap((link) =>
      isObject(link) && typeof link.url === 'string' ? [{ url: link.url, text: wellFormed(link.text) ?? '' }] : [],
    ),
    evidenceSpans: spansOf(shown, contentHash),
  }
}

/** Replaces lone surrogates, which scripts and truncation can produce: stores and most readers reject them. */
const wellFormed = (value: Json | undefined): string | null => (typeof value === 'string' ? value.toWellFormed() : null)

/** Returns the paragraphs as citable passages. The text of a passage is exactly the content between its offsets. */
export const spansOf = (content: string, contentHash: string): readonly EvidenceSpan[] => {
  const spans: EvidenceSpan[] = []
  for (const { index, 0: line } of content.matchAll(/[^\n]+/g)) {
    if (spans.length === maxSpans) break
    const start = index + line.length - line.trimStart().length
    const end = Math.min(index + line.trimEnd().length, start + maxSpanLength)
    if (end <= start) continue
    const id = createHash('sha256').update(`${contentHash}:${start}`).digest('hex').slice(0, idLength)
    spans.push({ id: `ev_${id}`, text: content.slice(start, end), start, end })
  }
  return spans
}

/** Runs in the page, and limits there how much a page can send. */
const reader = `(() => {
  const text = (value, most) => String(value ?? '').replace(/\\s+/g, ' ').trim().slice(0, most)
  const links = []
  for (const anchor of document.querySelectorAll('a[href]')) {
    if (links.length === ${maxLinks}) break
    if (anchor.protocol === 'http:' || anchor.protocol === 'https:')
      links.push({ url: anchor.href.slice(0, 2048), text: text(anchor.innerText, 200) })
  }
  const shown = (document.body?.innerText ?? '').slice(0, ${maxContentLength})
  return JSON.stringify({
    title: text(document.title, 512),
    language: text(document.documentElement?.lang, 35),
    content: shown.replace(/\\n{3,}/g, '\\n\\n').trim().replace(/[\\uD800-\\uDBFF]$/, ''),
    links,
  })
})()`
