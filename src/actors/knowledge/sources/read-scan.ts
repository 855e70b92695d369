import type { ImageReader, ReadImage } from '#actors/capability/image-reader.ts'
import { isObject } from '#outgoing/wire.ts'
import type { Owner } from '#runtime/index.ts'
import { errors, ServiceError } from '#specs/errors/errors.ts'
import { maxScannedPages } from '#specs/resources/knowledge/knowledge-limits.ts'
import type { openDocumentParser } from '#src/parsing/documents/document-parser.ts'
import {
  type DocumentBytes,
  type DocumentRead,
  isDocumentRead,
  isImageType,
} from '#src/parsing/documents/read-document.ts'
import { SyncFailed } from './sync-failed.ts'

export interface ScanParts {
  readonly parser: Pick<ReturnType<typeof openDocumentParser>, 'parse'>
  /** Returns the model that reads scans for a project; null when its settings name none. */
  readonly imageReaderOf: (project: string) => Promise<ImageReader | null>
}

interface Reading {
  readonly owner: Pick<Owner, 'project' | 'tenant'>
  readonly signal: AbortSignal
}

/** Timeout of the model for one page, in ms. */
const pageMs = 120_000

/** Whether content without text may be a scan. */
export const maybeScan = (mimeType: string): boolean => mimeType === 'application/pdf' || isImageType(mimeType)

/** Returns the model that reads the scans of a project. @throws {SyncFailed} when it names none. */
export const scanReader = async (
  { imageReaderOf }: Pick<ScanParts, 'imageReaderOf'>,
  project: string,
  mimeType: string,
): Promise<ImageReader> => {
  const reader = await imageReaderOf(project)
  if (reader !== null) return reader
  throw isImageType(mimeType) ? new SyncFailed('vision_model_required', withoutModel, true) : noText(withoutModel)
}

/** Reads a scan page by page with a model. @throws {SyncFailed} {ParserFailed} */
export const readScan = async (
  parts: Pick<ScanParts, 'parser'>,
  content: DocumentBytes,
  reading: Reading & { readonly reader: ImageReader },
): Promise<DocumentRead> => {
  const { reader } = reading
  const isImage = isImageType(content.mimeType)
  const texts: string[] = []
  let pageCount: number | null = null
  for (let page = 1; page <= (pageCount ?? 1); page++) {
    const images = isImage ? [content] : []
    if (!isImage) {
      const scanned = await pageOf(parts, content, { ...reading, page })
      pageCount = scanned.pageCount
      if (pageCount > maxScannedPages)
        throw new SyncFailed('too_many_pages', `The scan has more than ${maxScannedPages} pages.`, true)
      images.push(...scanned.images)
    }
    texts.push(images.length === 0 ? '' : await textOf(reader, images, reading))
  }
  const read: unknown = await parts.parser.parse('written_pages', { texts, pageCount }, { owner: reading.owner })
  if (!isDocumentRead(read) || read.chunks.length === 0) throw noText('No text is seen in it, either.')
  return read
}

const withoutModel = 'A scan is read with the model that knowledge.vision_model of the project names.'

const noText = (more: string): SyncFailed => new SyncFailed('no_text', `The content contains no text. ${more}`, true)

/** Returns the images of a page, and the number of pages. */
const pageOf = async (
  { parser }: Pick<ScanParts, 'parser'>,
  { bytes }: DocumentBytes,
  { owner, page }: Reading & { readonly page: number },
): Promise<{ readonly pageCount: number; readonly images: readonly ReadImage[] }> => {
  const scanned: unknown = await parser.parse('scanned_page', { bytes, page }, { owner })
  const { page_count, images }: Readonly<Record<string, unknown>> = isObject(scanned) ? scanned : {}
  return {
    pageCount: typeof page_count === 'number' ? page_count : 0,
    images: (Array.isArray(images) ? images : []).map((image) => ({
      bytes: Buffer.from(String(image), 'base64'),
      mimeType: 'image/png',
    })),
  }
}

const textOf = async (
  reader: ImageReader,
  images: readonly ReadImage[],
  { owner, signal }: Reading,
): Promise<string> => {
  try {
    const both = AbortSignal.any([signal, AbortSignal.timeout(pageMs)])
    return await reader.read(
      images.map(({ bytes, mimeType }) => ({ bytes, mimeType })),
      { owner, signal: both },
    )
  } catch (error) {
    if (!(error instanceof ServiceError)) throw signal.aborted ? error : new SyncFailed('vision_failed', late)
    const { status } = errors[error.code]
    const isLasting = status >= 400 && status < 500 && status !== 408 && status !== 429
    throw new SyncFailed('vision_failed', `The model cannot read the scan: ${error.message}`, isLasting)
  }
}

const late = 'The model did not read a page of the scan in time.'
