import type { GivenImage } from '../providers/image-format.ts'
import type { ImageLimits } from '../providers/provider-format.ts'
import { decodeBase64, readBase64 } from './image-base64.ts'
import { checkImage } from './image-check.ts'
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
    if (source.kind === 'base64') {
      const found = await readBase64(source.base64, source.at)
      // checked before it is decoded
      const mimeType = checkImage({ ...found, declared: source.mimeType }, limits, source.at)
      return { bytes: await decodeBase64(found), mimeType }
    }
    const { bytes, mimeType: declared, at } = source.kind === 'file' ? source : await this.#fetched(source, limits)
    return { bytes, mimeType: checkImage({ head: bytes, size: bytes.length, declared }, limits, at) }
  }

  async #fetched(source: RemoteSource, limits: Limits) {
    const maxBytes = Math.min(limits.maxBytes, this.#left)
    const { bytes, mimeType } = await fetchImage(this.#remote, source, { maxBytes, signal: this.#signal })
    this.#left -= bytes.length
    // servers often send wrong image types, so a declared image type is ignored in favour of the bytes
    return { bytes, mimeType: mimeType.startsWith('image/') ? '' : mimeType, at: source.at }
  }
}
