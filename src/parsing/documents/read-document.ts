import { isObject } from '#outgoing/wire.ts'
import { maxExtractedLength } from '#specs/resources/knowledge/knowledge-limits.ts'
import { decodedPage } from '#src/pages/charset.ts'
import { type PageType, signatureOf } from '#src/pages/content-type.ts'
import type { ForeignBytes } from '../parser-tasks.ts'
import { type Chunk, chunksOf, type Page } from './chunk.ts'
import { csvText } from './csv-text.ts'
import { DocumentRefused, type Refusal } from './document-refused.ts'
import { htmlText } from './html/html-text.ts'
import { jsonText } from './json-text.ts'
import { docxText } from './office/docx-text.ts'
import { epubText } from './office/epub-text.ts'
import { pptxText } from './office/pptx-text.ts'
import { xlsxText } from './office/xlsx-text.ts'
import { pdfText } from './pdf-text.ts'

/** Content extracted from a document. */
export type DocumentRead = {
  readonly title: string | null
  readonly text: string
  readonly page_count: number | null
  readonly chunks: readonly Chunk[]
}

/** The worker's result for a document that it refuses. */
export type RefusedDocument = { readonly refused: Refusal }

/** Kind of document by MIME type. */
const documentTypes = {
  'text/plain': 'text',
  'text/markdown': 'text',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/epub+zip': 'epub',
  'image/png': 'image',
  'image/jpeg': 'image',
  'image/webp': 'image',
  'image/gif': 'image',
  'text/csv': 'csv',
  'application/json': 'json',
} as const

/** A supported MIME type. */
export type DocumentType = keyof typeof documentTypes

/** Whether documents of this MIME type are supported. */
export const isDocumentType = (type: string): type is DocumentType => Object.hasOwn(documentTypes, type)

/** Whether content of this MIME type is an image, which has no text unless a model reads it. */
export const isImageType = (type: string): boolean => isDocumentType(type) && documentTypes[type] === 'image'

/** Bytes of a document, and what is known about them. */
export interface DocumentBytes extends ForeignBytes {
  /** Character encoding declared by the sender; absent if it is not known. */
  readonly charset?: string | null
}

interface Extracted {
  readonly title: string | null
  readonly text: string
  readonly pages?: readonly Page[]
  readonly pageCount?: number
}

/**
 * Extracts text and chunks of a document.
 *
 * @throws {DocumentRefused}, and {Error} for bytes that are not of its type.
 */
export const readDocument = async (document: DocumentBytes): Promise<DocumentRead> => {
  const { title, text, pages, pageCount = null } = await extracted(document)
  if (text.length > maxExtractedLength) throw new DocumentRefused('too_much_text')
  const chunks = [...chunksOf(text, pages)]
  return { title: cutAt(title ?? firstHeading(chunks), maxTitleLength), text, page_count: pageCount, chunks }
}

/** Maximum length of a title, which each list of sources contains. */
const maxTitleLength = 500

const cutAt = (text: string | null, max: number): string | null => text?.slice(0, max).toWellFormed() ?? null

/** Extracts a document as the task of a worker: a refusal is a result, since only messages of errors are transmitted. */
export const readOrRefused = async (document: DocumentBytes): Promise<DocumentRead | RefusedDocument> => {
  try {
    return await readDocument(document)
  } catch (error) {
    if (error instanceof DocumentRefused) return { refused: error.refusal }
    throw error
  }
}

/** Readers of formats that are not text. */
const ofBytes: Readonly<Partial<Record<string, (bytes: Uint8Array) => Promise<Extracted>>>> = {
  pdf: (bytes) => pdfText(bytes, true),
  ...{ docx: docxText, pptx: pptxText, xlsx: xlsxText, epub: epubText },
}

const extracted = async ({ bytes, mimeType, charset = null }: DocumentBytes): Promise<Extracted> => {
  const kind = isDocumentType(mimeType) ? documentTypes[mimeType] : 'text'
  const readBytes = ofBytes[kind]
  if (readBytes !== undefined) return readBytes(bytes)
  if (kind === 'image' && signatureOf(bytes) === mimeType) return { title: null, text: '' }
  if (signatureOf(bytes) !== null || kind === 'image') throw new Error('the bytes are no text')
  const text = decoded(bytes, { mimeType, charset, kind: kind === 'html' || kind === 'json' ? kind : 'text' })
  if (kind === 'html') return htmlText(text)
  return { title: null, text: kind === 'csv' ? csvText(text) : kind === 'json' ? jsonText(text) : text }
}

/** Decodes a text; line ends become `\n`. */
const decoded = (bytes: Uint8Array, type: PageType): string => decodedPage(bytes, type).text.replace(/\r\n?/g, '\n')

const firstHeading = (chunks: readonly Chunk[]): string | null =>
  chunks.find(({ heading }) => heading !== null && heading !== '')?.heading?.split(' › ')[0] ?? null

/** Whether a value is the worker's result for a document. */
export const isDocumentRead = (value: unknown): value is DocumentRead =>
  isObject(value) && typeof value.text === 'string' && Array.isArray(value.chunks)

/** Whether a value is the worker's result for a document that it refuses. */
export const isRefused = (value: unknown): value is RefusedDocument =>
  isObject(value) && typeof value.refused === 'string'
