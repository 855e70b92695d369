import { mimeTypeOf } from '#src/pages/mime-type.ts'
import { type DocumentType, isDocumentType } from '#src/parsing/documents/read-document.ts'

const byEnding: Readonly<Record<string, DocumentType>> = {
  txt: 'text/plain',
  text: 'text/plain',
  log: 'text/plain',
  md: 'text/markdown',
  markdown: 'text/markdown',
  html: 'text/html',
  htm: 'text/html',
  xhtml: 'application/xhtml+xml',
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  epub: 'application/epub+zip',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  csv: 'text/csv',
  tsv: 'text/csv',
  json: 'application/json',
}

const essenceOf = (declared: string): string => mimeTypeOf(declared)?.essence ?? declared.trim().toLowerCase()

/**
 * Returns the MIME type as which the content of a URL is parsed, or null for an unsupported type. The type that its
 * server declares takes precedence over the extension in its path, as `…/README.md` is often a web page, unless it is
 * one that servers declare for every file that they do not know.
 */
export const typeOfPage = (declared: string, path: string): DocumentType | null => {
  const type = essenceOf(declared)
  return type !== 'text/plain' && isDocumentType(type) ? type : typeOfContent(declared, path)
}

/** Returns the character encoding that a content type declares; null for none. */
export const charsetOf = (declared: string): string | null => mimeTypeOf(declared)?.params.get('charset') ?? null

/**
 * Returns the MIME type as which content is parsed, or null for an unsupported type. The extension of its name takes
 * precedence over the declared type, since many clients declare `application/octet-stream` or `text/plain` for every
 * type that they do not know.
 */
export const typeOfContent = (declared: string, name: string): DocumentType | null => {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  const type = essenceOf(declared)
  const byName = name.includes('.') ? byEnding[ending] : undefined
  if (byName !== undefined) return byName
  if (isDocumentType(type)) return type
  if (type === 'text/x-markdown') return 'text/markdown'
  if (type.endsWith('+json')) return 'application/json'
  return type === '' || type.startsWith('text/') ? 'text/plain' : null
}
