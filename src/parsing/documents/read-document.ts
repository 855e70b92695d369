import { isObject } from '#outgoing/wire.ts'
import { maxExtractedLength } from '#specs/resources/knowledge/knowledge-limits.ts'
import type { ForeignBytes } from '../parser-tasks.ts'
import { type Chunk, chunksOf, type Page } from './chunk.ts'
import { csvText } from './csv-text.ts'
import { docxText } from './docx-text.ts'
import { htmlText } from './html-text.ts'
import { jsonText } from './json-text.ts'
import { pdfText } from './pdf-text.ts'
import { TooMuchText } from './text-writer.ts'

/** Content extracted from a document. */
export type DocumentRead = {
  readonly title: string | null
  readonly text: string
  readonly page_count: number | null
  readonly chunks: readonly Chunk[]
}

/** Kind of document by MIME type. */
export const documentTypes = {
  'text/plain': 'text',
  'text/markdown': 'text',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'text/csv': 'csv',
  'application/json': 'json',
} as const

/** A supported MIME type. */
export type DocumentType = keyof typeof documentTypes

/** Whether documents of this MIME type are supported. */
export const isDocumentType = (type: string): type is DocumentType => Object.hasOwn(documentTypes, type)

interface Extracted {
  readonly title: string | null
  readonly text: string
  readonly pages?: readonly Page[]
}

/** Extracts text and chunks of a document. @throws {Error} for bytes that are not of its type. */
export const readDocument = async ({ bytes, mimeType }: ForeignBytes): Promise<DocumentRead> => {
  const { title, text, pages } = await extracted(bytes, mimeType)
  if (text.length > maxExtractedLength) throw new TooMuchText('the document has too much text')
  const chunks = [...chunksOf(text, pages)]
  return { title: title ?? firstHeading(chunks), text, page_count: pages?.length ?? null, chunks }
}

const extracted = async (bytes: Uint8Array, mimeType: string): Promise<Extracted> => {
  const kind = isDocumentType(mimeType) ? documentTypes[mimeType] : 'text'
  if (kind === 'pdf') return pdfText(bytes)
  if (kind === 'docx') return docxText(bytes)
  const text = decoded(bytes)
  if (kind === 'html') return htmlText(text)
  return { title: null, text: kind === 'csv' ? csvText(text) : kind === 'json' ? jsonText(text) : text }
}

/** Decodes UTF-8, or UTF-16LE with a byte order mark; line ends become `\n`. */
const decoded = (bytes: Uint8Array): string => {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8'
  return new TextDecoder(encoding).decode(bytes).replaceAll('\r\n', '\n')
}

const firstHeading = (chunks: readonly Chunk[]): string | null =>
  chunks.find(({ heading }) => heading !== null && heading !== '')?.heading?.split(' › ')[0] ?? null

/** Whether a value is the worker's result for a document. */
export const isDocumentRead = (value: unknown): value is DocumentRead =>
  isObject(value) && typeof value.text === 'string' && Array.isArray(value.chunks)
