import { isObject } from '#outgoing/wire.ts'
import { decodedPage } from '#src/pages/charset.ts'
import type { PageType } from '#src/pages/content-type.ts'
import { pdfText } from '../documents/pdf-text.ts'
import { type TextFormat, textOf } from './block-writer.ts'
import { cleanPage } from './clean-html.ts'
import { type EvidenceSpan, evidenceOf } from './evidence.ts'
import { mainElement } from './main-text.ts'
import { type PageFacts, pageFacts } from './page-facts.ts'
import { linksOf, type PageLink } from './page-links.ts'
import { documentOf, type PageDocument } from './schema.ts'

/** A page that is to be read. */
export interface PageInput {
  readonly bytes: Uint8Array
  readonly type: PageType
  /** Address that it came from. */
  readonly url: string
  readonly format: TextFormat
}

/** What a page says. */
export type PageRead = PageFacts & {
  readonly content: string
  readonly links: readonly PageLink[]
  readonly evidence: readonly EvidenceSpan[]
  readonly charset: string | null
  readonly pageCount: number | null
  /** Parts of a hostile page that were left out. */
  readonly leftOut: readonly string[]
}

/** Text of a page, in characters. */
export const maxContent = 1_000_000

const noFacts: PageFacts = {
  ...{ title: '', description: '', language: null, canonical: null, publishedAt: null, modifiedAt: null },
  ...{ robots: [], metadata: {} },
}

/** Reads a page: its text without what frames it, links, spans to cite, and what it says of itself. */
export const readPage = async ({ bytes, type, url, format }: PageInput): Promise<PageRead> => {
  if (type.kind === 'pdf') return readPdf(bytes)
  const { text, charset } = decodedPage(bytes, type)
  if (type.kind === 'html') return readHtml(text, { url, format, charset })
  const content = bounded(type.kind === 'xml' ? textOfXml(text) : text.replaceAll('\r\n', '\n').trim())
  const title = type.kind === 'markdown' ? (/^#\s+(.{1,300})$/m.exec(content)?.[1] ?? '') : ''
  const rest = { links: [], evidence: evidenceOf(content), charset, pageCount: null, leftOut: [] }
  return { ...noFacts, title, content, ...rest }
}

const readPdf = async (bytes: Uint8Array): Promise<PageRead> => {
  const { text, pages, title } = await pdfText(bytes)
  const content = bounded(text)
  const rest = { links: [], charset: null, pageCount: pages.length, leftOut: [] }
  return { ...noFacts, title: title ?? '', content, evidence: evidenceOf(content), ...rest }
}

const readHtml = (
  html: string,
  { url, format, charset }: { readonly url: string; readonly format: TextFormat; readonly charset: string },
): PageRead => {
  const page = cleanPage(html)
  const base = baseOf(page.said.find(({ name }) => name === 'base')?.attributes.href, url)
  const facts = pageFacts(page.said, base)
  const document = documentOf(page.html)
  const links = linksOf(document, base)
  const title = facts.title || headingOf(document)
  const main = mainElement(page.html)
  if (format === 'markdown')
    for (const anchor of main.querySelectorAll('a[href]'))
      anchor.setAttribute('href', absolute(anchor.getAttribute('href'), base))
  const content = bounded(textOf(main, format))
  const language = page.language ?? facts.language
  const rest = { links, evidence: evidenceOf(content), charset, pageCount: null, leftOut: page.leftOut }
  return { ...facts, title, language, content, ...rest }
}

const headingOf = (document: PageDocument): string => {
  const [heading] = document.querySelectorAll('h1')
  return heading?.textContent.replace(/\s+/g, ' ').trim().slice(0, 300) ?? ''
}

const baseOf = (href: string | undefined, url: string): string =>
  href !== undefined && URL.canParse(href, url) ? new URL(href, url).href : url

const absolute = (href: string | null, base: string): string =>
  href !== null && URL.canParse(href, base) ? new URL(href, base).href : ''

const textOfXml = (xml: string): string => {
  const { html } = cleanPage(xml.replaceAll('<![CDATA[', '').replaceAll(']]>', ''))
  return textOf(documentOf(html).body, 'text')
}

const bounded = (text: string): string => text.slice(0, maxContent)

/** What the worker answers for a page, read back. */
export const isPageRead = (value: unknown): value is PageRead =>
  isObject(value) && typeof value.content === 'string' && Array.isArray(value.evidence) && Array.isArray(value.links)
