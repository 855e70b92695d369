import type { UploadedFile } from '#actors/call/call.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { maxImages } from '#specs/resources/gateway/vision.ts'
import { mimeTypeOf } from '#src/pages/mime-type.ts'

/** One image as given by the caller. `at` names it in errors: `image_url`, `images[1]`, `files[0]`. */
export type ImageSource = { readonly at: string } & (
  | { readonly kind: 'remote'; readonly url: URL }
  /** `mimeType` is the type declared by the caller. */
  | { readonly kind: 'base64'; readonly base64: string; readonly mimeType: string }
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly mimeType: string }
)

/** An image at a URL. */
export type RemoteSource = Extract<ImageSource, { kind: 'remote' }>

/** The fields of a request that contain images. */
export interface ImageFields {
  readonly image_url?: string | null
  readonly image_base64?: string | null
  readonly mime_type?: string | null
  readonly images?: readonly (string | ImageItem)[] | null
}

interface ImageItem {
  readonly url?: string | null
  readonly base64?: string | null
  readonly mime_type?: string | null
}

/** Error about one image that the caller can correct. */
export const badImage = (at: string, message: string, cause?: unknown): ServiceError =>
  new ServiceError('bad_request', { param: at, message: `${at} ${message}.`, cause })

/**
 * Returns the images of a request in order: the single one, `images`, then files.
 *
 * @throws {ServiceError} `bad_request` when one is invalid, or there is none.
 */
export const imageSources = (body: ImageFields, files: readonly UploadedFile[]): readonly ImageSource[] => {
  const sources = [
    ...single(body),
    ...(body.images ?? []).map(item),
    ...files.map((file, index) => fileSource(file, `files[${index}]`)),
  ]
  if (sources.length === 0) {
    const message =
      'The request requires an image: image_url, image_base64 with mime_type, images, or a file in a multipart form.'
    throw new ServiceError('bad_request', { param: 'image_url', message })
  }
  if (sources.length > maxImages) throw badImage('images', `are more than ${maxImages}`)
  return sources
}

const single = ({ image_url, image_base64, mime_type }: ImageFields): readonly ImageSource[] => [
  ...(isGiven(image_url) ? [byUrl(image_url, 'image_url')] : []),
  ...(isGiven(image_base64) ? [byBase64(image_base64, mime_type, { at: 'image_base64', typeAt: 'mime_type' })] : []),
]

const item = (image: string | ImageItem, index: number): ImageSource => {
  const at = `images[${index}]`
  if (typeof image === 'string') return byUrl(image, at)
  if (isGiven(image.url) && isGiven(image.base64)) throw badImage(at, 'has both a url and base64')
  if (isGiven(image.url)) return byUrl(image.url, at)
  if (isGiven(image.base64)) return byBase64(image.base64, image.mime_type, { at, typeAt: `${at}.mime_type` })
  throw badImage(at, 'has neither a url nor base64')
}

const isGiven = (text: string | null | undefined): text is string => typeof text === 'string' && text !== ''

const dataUrl = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w.+-]+=[^;,]{0,128}){0,8};base64,/i

/** An image at a URL. @throws {ServiceError} `bad_request` for one that is neither `https:` nor `data:`. */
export const byUrl = (text: string, at: string): ImageSource => {
  if (/^data:/i.test(text)) {
    const head = dataUrl.exec(text.slice(0, 2048))
    if (head === null) throw badImage(at, 'is a data: URL without base64')
    return { kind: 'base64', at, base64: text.slice(head[0].length), mimeType: head[1] ?? '' }
  }
  const url = /^https:\/\//i.test(text) ? URL.parse(text) : null
  if (url === null) throw badImage(at, 'is neither an https:// URL nor a data: URL')
  return { kind: 'remote', at, url }
}

const byBase64 = (
  base64: string,
  mimeType: string | null | undefined,
  { at, typeAt }: { readonly at: string; readonly typeAt: string },
): ImageSource => {
  if (!isGiven(mimeType)) throw badImage(typeAt, 'must have the media type of the base64')
  if (/^data:/i.test(base64)) throw badImage(at, 'has a data: prefix; send it as a url')
  return { kind: 'base64', at, base64, mimeType }
}

/** An uploaded image, which errors call `at`. */
export const fileSource = ({ bytes, contentType }: UploadedFile, at: string): ImageSource => ({
  kind: 'file',
  at,
  bytes,
  mimeType: mimeTypeOf(contentType)?.essence ?? '',
})
