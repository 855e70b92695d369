import { isObject } from '#outgoing/wire.ts'
import { decodedPage } from '#src/pages/charset.ts'
import type { PageType } from '#src/pages/content-type.ts'
import type { JsonObject } from '#storage/index.ts'
import { pdfText } from '../documents/pdf-text.ts'
import { type TextFormat, textOf } from './block-writer.ts'
import { type CleanPage, cleanPage } from './clean-html.ts'
import { candidatesOf, type PageCandidates } from './data/candidates.ts'
import { type PageData, pageDataOf, SchemaFault } from './data/page-data.ts'
import { decodedEntities } from './entities.ts'
import { type EvidenceSpan, evidenceOf } from './evidence.ts'
import { articleBodyOf, jsonLdOf, objectsIn, parsedJson } from './json-ld.ts'
import { mainElement } from './main-text.ts'
import { languageIn, type PageFacts, pageFacts } from './page-facts.ts'
import { linksOf, type PageLink } from './page-links.ts'
import { documentOf, type PageDocument } from './schema.ts'

export interface PageInput {
  readonly bytes: Uint8Array
  readonly type: PageType
  /** URL from which it was fetched. */
  readonly url: string
  readonly format: TextFormat
  /** JSON Schema of data to extract. */
  readonly schema?: JsonObject
}

/** Data extracted by a schema, or the error when the schema is invalid. */
type SchemaRead = PageData | { readonly fault: string }

/** Content extracted from a page. */
export type PageRead = PageFacts & {
  readonly content: string
  readonly links: readonly PageLink[]
  readonly evidence: readonly EvidenceSpan[]
  readonly charset: string | null
  readonly pageCount: number | null
  /** Kinds of parts that exceeded a limit and were left out. */
  readonly leftOut: readonly string[]
  /** Null without a schema. */
  readonly data: SchemaRead | null
}

/** Maximum length of a page's text, in characters. */
const maxContent = 1_000_000

/** Share of an article's text in JSON-LD below which the visible text is not the article. */
const minShown = 0.4

const noFacts: PageFacts = {
  ...{ title: '', description: '', language: null, canonical: null, publishedAt: null, modifiedAt: null },
  ...{ robots: [], metadata: {} },
}

/** Reads a page: its text without boilerplate, links, citable spans and metadata. */
export const readPage = async (input: PageInput): Promise<PageRead> => {
  const { bytes, type, schema } = input
  if (type.kind === 'pdf') return readPdf(bytes, schema)
  const { text: decoded, charset } = decodedPage(bytes, type)
  // as browsers do; texts with it are refused by many readers
  const text = decoded.replaceAll('\0', '')
  if (type.kind === 'html') return readHtml(text, { ...input, charset })
  const content = bounded(type.kind === 'xml' ? textOfXml(text) : text.replaceAll('\r\n', '\n').trim())
  const title = type.kind === 'markdown' ? (/^#\s+(.{1,300})$/m.exec(content)?.[1] ?? '') : ''
  const jsonLd = type.kind === 'json' ? objectsIn(parsedJson(text)) : []
  const data = schemaRead(schema, () => candidatesOf(null, { metaTags: [], jsonLd, content }), content)
  const rest = { links: [], evidence: evidenceOf(content), charset, pageCount: null, leftOut: [], data }
  return { ...noFacts, title, content, ...rest }
}

const schemaRead = (
  schema: JsonObject | undefined,
  candidates: () => PageCandidates,
  content: string,
): SchemaRead | null => {
  if (schema === undefined) return null
  try {
    return pageDataOf(schema, candidates(), content)
  } catch (error) {
    if (error instanceof SchemaFault) return { fault: error.message }
    throw error
  }
}

const readPdf = async (bytes: Uint8Array, schema: JsonObject | undefined): Promise<PageRead> => {
  const { text, pageCount, title } = await pdfText(bytes)
  const content = bounded(text)
  const data = schemaRead(schema, () => candidatesOf(null, { metaTags: [], jsonLd: [], content }), content)
  const rest = { links: [], charset: null, pageCount, leftOut: [], data }
  return { ...noFacts, title: title ?? '', content, evidence: evidenceOf(content), ...rest }
}

const readHtml = (
  html: string,
  { url, format, charset, schema }: PageInput & { readonly charset: string },
): PageRead => {
  const page = cleanPage(html)
  const base = baseOf(page.metaTags.find(({ name }) => name === 'base')?.attributes.href, url)
  const facts = pageFacts(page.metaTags, base)
  const document = documentOf(page.html)
  const links = linksOf(document, base)
  const title = facts.title || headingOf(document)
  const main = mainElement(page, document, facts)
  if (format === 'markdown')
    for (const anchor of main.querySelectorAll('a[href]'))
      anchor.setAttribute('href', absolute(anchor.getAttribute('href'), base))
  const shown = textOf(main, format)
  const article = articleText(page.metaTags)
  const isFromArticle = shown.length < article.length * minShown
  const content = bounded(isFromArticle ? article : shown)
  const language = languageIn(page.language) ?? facts.language
  // parsed again, since extracting the main content modified the tree
  const candidates = () =>
    candidatesOf(documentOf(page.html), { metaTags: page.metaTags, jsonLd: jsonLdOf(page.metaTags), content })
  const data = schemaRead(schema, candidates, content)
  const rest = { links, evidence: evidenceOf(content), charset, pageCount: null, leftOut: page.leftOut, data }
  const metadata = isFromArticle ? { ...facts.metadata, contentSource: 'json_ld' } : facts.metadata
  return { ...facts, metadata, title, language, content, ...rest }
}

/** Returns the text of the article that a page has in JSON-LD; '' when it has none. */
const articleText = (metaTags: CleanPage['metaTags']): string => {
  const body = articleBodyOf(jsonLdOf(metaTags))
  if (!/<[a-z/][^<>]*>/i.test(body)) return decodedEntities(body).replaceAll('\r\n', '\n').trim()
  return textOf(documentOf(cleanPage(body).html).body, 'text')
}

const headingOf = (document: PageDocument): string => {
  const [heading] = document.querySelectorAll('h1')
  return heading?.textContent.replace(/\s+/g, ' ').trim().slice(0, 300) ?? ''
}

const baseOf = (href: string | undefined, url: string): string =>
  href === undefined ? url : (URL.parse(href, url)?.href ?? url)

const absolute = (href: string | null, base: string): string =>
  href === null ? '' : (URL.parse(href, base)?.href ?? '')

const textOfXml = (xml: string): string => {
  const { html } = cleanPage(xml.replaceAll('<![CDATA[', '').replaceAll(']]>', ''))
  return textOf(documentOf(html).body, 'text')
}

const bounded = (text: string): string => text.slice(0, maxContent)

/** Whether a value is the worker's result for a page. */
export const isPageRead = (value: unknown): value is PageRead =>
  isObject(value) && typeof value.content === 'string' && Array.isArray(value.evidence) && Array.isArray(value.links)
