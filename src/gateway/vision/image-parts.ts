import type { WireObject } from '#outgoing/wire.ts'
import type { Route } from '../call/routes.ts'
import { type ImageLimits, usualImages } from '../providers/provider-format.ts'
import { providerFormats } from '../providers/provider-formats.ts'
import { checkImage, readBase64 } from './image-check.ts'
import type { ImageSource } from './image-sources.ts'
import { checkAddress, fetchImage, type RemoteImages } from './remote-image.ts'

/** Maximum total bytes of all images fetched for one request. */
const maxFetchedBytes = 64 * 1024 * 1024

/**
 * Converts images to message parts for the route's provider family; each is validated against the family's limits. When
 * an image is refused, nothing has been sent to the provider yet.
 *
 * @throws {ServiceError} `bad_request`, `unsupported_format`, `image_too_large`, each naming the image.
 */
export const imageParts = async (
  sources: readonly ImageSource[],
  route: Pick<Route, 'format'>,
  { remote, signal }: { readonly remote: RemoteImages; readonly signal: AbortSignal },
): Promise<readonly WireObject[]> => {
  const limits = providerFormats[route.format].imageLimits ?? usualImages
  const parts: WireObject[] = []
  // sequential, so that the error names the first invalid image, and to bound memory use
  let left = maxFetchedBytes
  for (const source of sources) {
    if (source.kind === 'remote' && !limits.fetches) {
      const maxBytes = Math.min(limits.maxBytes, left)
      const { bytes, mimeType } = await fetchImage(remote, source, { maxBytes, signal })
      left -= bytes.length
      // servers often send wrong image types, so a declared image type is ignored in favour of the bytes
      const declared = mimeType.startsWith('image/') ? '' : mimeType
      parts.push(await fromBytes({ bytes, mimeType: declared, at: source.at }, limits))
    } else parts.push(await partOf(source, limits, remote))
  }
  return parts
}

const partOf = async (source: ImageSource, limits: ImageLimits, remote: RemoteImages): Promise<WireObject> => {
  const { at } = source
  if (source.kind === 'remote') {
    checkAddress(remote, source.url, at)
    return imagePart(source.url.href)
  }
  if (source.kind === 'file') return fromBytes(source, limits)
  const text = /\s/.test(source.base64) ? source.base64.replace(/\s+/g, '') : source.base64
  const type = await checkImage({ ...readBase64(text, at), declared: source.mimeType }, limits, at)
  return imagePart(`data:${type};base64,${text}`)
}

interface Bytes {
  readonly bytes: Uint8Array
  readonly mimeType: string
  readonly at: string
}

const fromBytes = async ({ bytes, mimeType, at }: Bytes, limits: ImageLimits): Promise<WireObject> => {
  const type = await checkImage({ head: bytes, size: bytes.length, declared: mimeType }, limits, at)
  const { buffer, byteOffset, byteLength } = bytes
  return imagePart(`data:${type};base64,${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}`)
}

const imagePart = (url: string): WireObject => ({ type: 'image_url', image_url: { url } })
