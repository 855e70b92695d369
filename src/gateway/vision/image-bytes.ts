import type { GivenImage } from '../providers/image-format.ts'
import type { ImageLimits } from '../providers/provider-format.ts'
import { checkImage, readBase64 } from './image-check.ts'
import type { ImageSource, RemoteSource } from './image-sources.ts'
import { fetchImage, type RemoteImages } from './remote-image.ts'

/** Maximum total bytes of all images fetched for one request. */
const maxFetchedBytes = 64 * 1024 * 1024

type Limits = Pick<ImageLimits, 'types' | 'maxBytes'>

/** Reads the images of one request. */
export class ImageBytes {
  readonly #remote: RemoteImages
  readonly #signal: AbortSignal
  #left = maxFetchedBytes

  constructor(remote: RemoteImages, signal: AbortSignal) {
    this.#remote = remote
    this.#signal = signal
  }

  /** Returns the bytes of an image and its type. @throws {ServiceError} that names the image. */
  async read(source: ImageSource, limits: Limits): Promise<GivenImage> {
    const { bytes, mimeType: declared, at } = await this.#bytesOf(source, limits)
    return { bytes, mimeType: await checkImage({ head: bytes, size: bytes.length, declared }, limits, at) }
  }

  async #bytesOf(source: ImageSource, limits: Limits) {
    if (source.kind === 'file') return source
    if (source.kind === 'remote') return this.#fetched(source, limits)
    const text = /\s/.test(source.base64) ? source.base64.replace(/\s+/g, '') : source.base64
    // checked before it is decoded
    readBase64(text, source.at)
    return { bytes: Buffer.from(text, 'base64'), mimeType: source.mimeType, at: source.at }
  }

  async #fetched(source: RemoteSource, limits: Limits) {
    const maxBytes = Math.min(limits.maxBytes, this.#left)
    const { bytes, mimeType } = await fetchImage(this.#remote, source, { maxBytes, signal: this.#signal })
    this.#left -= bytes.length
    // servers often send wrong image types, so a declared image type is ignored in favour of the bytes
    return { bytes, mimeType: mimeType.startsWith('image/') ? '' : mimeType, at: source.at }
  }
}
