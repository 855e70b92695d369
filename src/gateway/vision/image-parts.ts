import type { WireObject } from '#outgoing/wire.ts'
import type { Route } from '../call/routes.ts'
import { checkImage, readBase64 } from './image-check.ts'
import { type ImageLimits, imageLimits } from './image-limits.ts'
import type { ImageSource } from './image-sources.ts'
import { checkAddress, fetchImage, type RemoteImages } from './remote-image.ts'

/** Bytes of all images that are fetched for one request. */
const maxFetchedBytes = 64 * 1024 * 1024

/**
 * Images as parts of a message for the family of a route, each held to what that takes. Nothing has been sent to the
 * provider when one is refused.
 *
 * @throws {ServiceError} `bad_request`, `unsupported_format`, `image_too_large`, each naming the image.
 */
export const imageParts = async (
  sources: readonly ImageSource[],
  route: Pick<Route, 'format'>,
  { remote, signal }: { readonly remote: RemoteImages; readonly signal: AbortSignal },
): Promise<readonly WireObject[]> => {
  const limits = imageLimits(route.format)
  const parts: WireObject[] = []
  // one after another: the first that is wrong is named, and no more is held in memory than has to be
  let left = maxFetchedBytes
  for (const source of sources) {
    if (source.kind === 'remote' && !limits.fetches) {
      const maxBytes = Math.min(limits.maxBytes, left)
      const { bytes, mimeType } = await fetchImage(remote, source, { maxBytes, signal })
      left -= bytes.length
      // servers say many things of their files: the bytes count
      const said = mimeType.startsWith('image/') ? '' : mimeType
      parts.push(await fromBytes({ bytes, mimeType: said, at: source.at }, limits))
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
  const type = await checkImage({ ...readBase64(text, at), said: source.mimeType }, limits, at)
  return imagePart(`data:${type};base64,${text}`)
}

interface Bytes {
  readonly bytes: Uint8Array
  readonly mimeType: string
  readonly at: string
}

const fromBytes = async ({ bytes, mimeType, at }: Bytes, limits: ImageLimits): Promise<WireObject> => {
  const type = await checkImage({ head: bytes, size: bytes.length, said: mimeType }, limits, at)
  const { buffer, byteOffset, byteLength } = bytes
  return imagePart(`data:${type};base64,${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}`)
}

const imagePart = (url: string): WireObject => ({ type: 'image_url', image_url: { url } })
