import { createHash } from 'node:crypto'
import type { Page } from 'playwright'
import { contentHashOf } from '#outgoing/content-hash.ts'
import { isObject } from '#runtime/index.ts'
import type { Json } from '#storage/index.ts'
import { flatText, flatTree } from './flat-tree.ts'
import { evaluateInSite } from './frame-worlds.ts'
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
interface EvidenceSpan {
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
const maxReads = 4
/** Maximum time in ms to wait for the next page to load. */
const nextMs = 10_000
const idLength = 26

/** Reads the content of a page, in an isolated world that the page's scripts cannot influence. */
export const readPage = async (page: Page): Promise<PageRead> => {
  for (let reads = 1; ; reads++) {
    try {
      return await readOnce(page)
    } catch (error) {
      if (reads === maxReads || page.isClosed()) throw error
      await page.waitForLoadState('load', { timeout: nextMs }).catch(() => {})
    }
  }
}

const readOnce = async (page: Page): Promise<PageRead> => readOf(page.url(), await evaluateInSite(page, reader, readMs))

/** The texts of frames of other origins follow that of the page. */
const readOf = (finalUrl: string, texts: readonly string[]): PageRead => {
  const all = texts.flatMap((text) => {
    const read = parsedJson(text)
    return isObject(read) ? [read] : []
  })
  const [{ title, language } = {}] = all
  const shown = all
    .flatMap(({ content }) => wellFormed(content) || [])
    .join('\n\n')
    .slice(0, maxContentLength)
  const content = shown.toWellFormed()
  const contentHash = contentHashOf(content)
  const links = all.flatMap((read) => (Array.isArray(read.links) ? read.links : [])).slice(0, maxLinks)
  return {
    finalUrl,
    title: wellFormed(title) || null,
    language: wellFormed(language) || null,
    content,
    contentHash,
    links: links.flatMap((link) =>
      isObject(link) && typeof link.url === 'string' ? [{ url: link.url, text: wellFormed(link.text) ?? '' }] : [],
    ),
    evidenceSpans: spansOf(content, contentHash),
  }
}

/** Replaces lone surrogates, which scripts and truncation can produce: stores and most readers reject them. */
const wellFormed = (value: Json | undefined): string | null => (typeof value === 'string' ? value.toWellFormed() : null)

/** Returns the paragraphs as citable passages. The text of a passage is exactly the content between its offsets. */
const spansOf = (content: string, contentHash: string): readonly EvidenceSpan[] => {
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
  ${flatTree}
  ${flatText}
  const text = (value, max) => String(value ?? '').replace(/\\s+/g, ' ').trim().slice(0, max)
  const links = []
  const addLink = (anchor) => {
    if (links.length < ${maxLinks} && (anchor.protocol === 'http:' || anchor.protocol === 'https:'))
      links.push({ url: anchor.href.slice(0, 2048), text: text(anchor.innerText, 200) })
  }
  const isWhole = !isComposed()
  if (isWhole) for (const anchor of document.querySelectorAll('a[href]')) addLink(anchor)
  else
    walk(document.documentElement, {
      enter: (node) => {
        if (node.localName === 'a' && node.hasAttribute('href')) addLink(node)
        return links.length < ${maxLinks}
      },
      leave: () => {},
      text: () => {},
    })
  const shown = isWhole ? (document.body?.innerText ?? '').slice(0, ${maxContentLength}) : shownText(${maxContentLength})
  return JSON.stringify({
    title: text(document.title, 512),
    language: text(document.documentElement?.lang, 35),
    content: shown.replace(/\\n{3,}/g, '\\n\\n').trim().replace(/[\\uD800-\\uDBFF]$/, ''),
    links,
  })
})()`
