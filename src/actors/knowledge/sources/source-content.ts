import type { UploadedFile } from '#actors/call/call.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { BodyOf } from '#specs/index.ts'
import { maxFileBytes } from '#specs/resources/knowledge/knowledge-limits.ts'
import type { FileData } from '../kinds.ts'
import { typeOfContent } from './content-type.ts'

/** Content from a request, or a copy of a stored file. */
export interface Content {
  readonly type: 'text' | 'file'
  /** Read in parts, so that a copy is never in memory as a whole. */
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>
  readonly mime_type: string
  readonly filename: string | null
}

const maxFilenameLength = 256

/**
 * Returns the file of a form as content.
 *
 * @throws {ServiceError} `body_too_large`, `unsupported_media_type`, `invalid_field`
 */
export const fileContent = ({ filename, contentType, bytes }: UploadedFile): Content => {
  const at = { param: 'file' }
  if (bytes.length === 0) throw new ServiceError('invalid_field', { ...at, message: 'The file is empty.' })
  if (bytes.length > maxFileBytes)
    throw new ServiceError('body_too_large', { ...at, message: 'A file must not be larger than 20 MB.' })
  return { type: 'file', bytes, mime_type: typeOfFile(contentType, filename), filename: nameOf(filename) }
}

/** Returns a copy of a stored file as content. @throws {ServiceError} `unsupported_media_type` */
export const copiedContent = (
  { filename, mime_type }: Pick<FileData, 'filename' | 'mime_type'>,
  bytes: AsyncIterable<Uint8Array>,
): Content => ({ type: 'file', bytes, mime_type: typeOfFile(mime_type, filename), filename: nameOf(filename) })

const typeOfFile = (contentType: string, filename: string): string => {
  const type = typeOfContent(contentType, filename)
  if (type !== null) return type
  const message =
    'Supported file types are txt, md, html, pdf, docx, pptx, xlsx, epub, csv, json, png, jpg, webp and gif.'
  throw new ServiceError('unsupported_media_type', { param: 'file', message })
}

/** Returns the name of a file without folders and control characters, which clients should not send (RFC 7578). */
export const nameOf = (filename: string): string | null => {
  const folders = Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1
  return (
    filename
      .slice(folders)
      .replace(/\p{Cc}/gu, '')
      .slice(-maxFilenameLength) || null
  )
}

const textTypes: readonly string[] = ['text/plain', 'text/markdown', 'text/html', 'text/csv', 'application/json']

/** Returns the text of a body as content. @throws {ServiceError} `invalid_field` */
const textContent = (text: string, mime_type = 'text/markdown'): Content => {
  if (!textTypes.includes(mime_type)) {
    const message = `The type of a text must be one of ${textTypes.join(', ')}.`
    throw invalidField('mime_type', message)
  }
  return { type: 'text', bytes: Buffer.from(text, 'utf8'), mime_type, filename: null }
}

/** Refuses fields of a new source that its content does not have. @throws {ServiceError} `invalid_field` */
export const checkFields = ({ text, url, mime_type, refresh_interval_s }: BodyOf<'knowledge_sources.create'>): void => {
  checkInterval(refresh_interval_s, url !== undefined)
  if (mime_type === undefined || text !== undefined) return
  throw invalidField('mime_type', 'Only a text is sent with its type.')
}

/** Refuses an interval of content that is not fetched, which would have no effect. @throws {ServiceError} `invalid_field` */
export const checkInterval = (interval: number | null | undefined, isUrl: boolean): void => {
  if (interval === null || interval === undefined || isUrl) return
  throw invalidField('refresh_interval_s', 'Only a source with a URL is fetched again.')
}

/**
 * Returns the content of a request; null when there is none.
 *
 * @throws {ServiceError} as above, and `invalid_field` when there is more than one
 */
export const contentOf = (
  { text, url, mime_type }: { readonly text?: string; readonly url?: string; readonly mime_type?: string },
  files: readonly UploadedFile[],
): Content | null => {
  const [file] = files
  const given = [text, url, ...files].filter((each) => each !== undefined)
  if (given.length > 1) {
    const message = 'A source must have exactly one of text, url and file.'
    throw invalidField(text !== undefined ? 'text' : url === undefined ? 'file' : 'url', message)
  }
  if (file !== undefined) return fileContent(file)
  return text === undefined ? null : textContent(text, mime_type)
}
