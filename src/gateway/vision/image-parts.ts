import type { WireObject } from '#outgoing/wire.ts'
import type { Route } from '../call/routes.ts'
import type { GivenImage } from '../providers/image-format.ts'
import { type ImageLimits, usualImages } from '../providers/provider-format.ts'
import { providerFormats } from '../providers/provider-formats.ts'
import { readBase64 } from './image-base64.ts'
import { ImageBytes } from './image-bytes.ts'
import { checkImage } from './image-check.ts'
import type { ImageSource } from './image-sources.ts'
import { checkAddress, type RemoteImages } from './remote-image.ts'

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
  const reading = new ImageBytes(remote, signal)
  // sequential, so that the error names the first invalid image, and to bound memory use
  for (const source of sources) {
    const isRead = source.kind === 'file' || (source.kind === 'remote' && !limits.fetches)
    parts.push(isRead ? inlinePart(await reading.read(source, limits)) : await partOf(source, limits, remote))
  }
  return parts
}

const partOf = async (
  source: Exclude<ImageSource, { kind: 'file' }>,
  limits: ImageLimits,
  remote: RemoteImages,
): Promise<WireObject> => {
  const { at } = source
  if (source.kind === 'remote') {
    checkAddress(remote, source.url, at)
    return imagePart(source.url.href)
  }
  const found = await readBase64(source.base64, at)
  const type = checkImage({ ...found, declared: source.mimeType }, limits, at)
  return imagePart(`data:${type};base64,${found.text}`)
}

const inlinePart = ({ bytes, mimeType }: GivenImage): WireObject => {
  const { buffer, byteOffset, byteLength } = bytes
  return imagePart(`data:${mimeType};base64,${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}`)
}

const imagePart = (url: string): WireObject => ({ type: 'image_url', image_url: { url } })
