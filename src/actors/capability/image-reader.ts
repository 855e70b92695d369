import { Port } from './port.ts'

/** An image whose text is read. */
export interface ReadImage {
  readonly bytes: Uint8Array
  readonly mimeType: string
}

/** For whom images are read, and who is charged. */
interface ReadFor {
  readonly owner: { readonly project: string; readonly tenant: string | null }
  readonly signal: AbortSignal
}

/** Reads the text of images with a model. */
export interface ImageReader {
  /** Returns the text of the images in order; empty for none. @throws {ServiceError} as of `vision.ocr` */
  read(images: readonly ReadImage[], options: ReadFor): Promise<string>
}

/** Returns the reader that a project's settings name; null when they name none. */
export const imageReadersPort = new Port<(project: string) => Promise<ImageReader | null>>('the readers of images')
