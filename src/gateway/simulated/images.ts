import { arrayOf, isObject, objectOf, textOf } from '#outgoing/wire.ts'
import { type ImageHeader, imageHeader } from './image-header.ts'

/** One image in the last user message. */
export interface SeenImage {
  /** null: the image is at a URL, which the simulated model does not fetch. */
  readonly header: ImageHeader | null
  readonly url: string
}

/** The images of a message, or `unreadable` when one of them cannot be read. */
export type Images = { readonly kind: 'seen'; readonly images: readonly SeenImage[] } | { readonly kind: 'unreadable' }

/** Returns the images in the last user message, in order. */
export const imagesIn = (messages: readonly unknown[]): Images => {
  const lastMessage = messages.findLast((message) => isObject(message) && message.role === 'user')
  const images: SeenImage[] = []
  for (const part of arrayOf(objectOf(lastMessage).content)) {
    const url = imageUrl(part)
    if (url === '') continue
    const isData = url.startsWith('data:')
    const header = isData ? imageHeader(bytesOf(url)) : null
    if (isData && header === null) return { kind: 'unreadable' }
    images.push({ header, url })
  }
  return { kind: 'seen', images }
}

/** Returns one sentence per image, with the format and size read from its bytes. */
export const describeImages = (images: readonly SeenImage[]): string =>
  images.map((image, place) => `Image ${place + 1} is ${nounOf(image)}. `).join('')

/** Returns the facts about images for a JSON response. */
export const imageFacts = (images: readonly SeenImage[]): readonly object[] =>
  images.map(({ header, url }) => header ?? { url })

/** Returns the input tokens of images as OpenAI counts them at high detail: 85, plus 170 per tile of 512 pixels. */
export const imageTokens = (images: readonly SeenImage[]): number =>
  images.reduce((sum, { header }) => sum + 85 + 170 * tilesOf(header ?? { width: 512, height: 512 }), 0)

/** Returns the characters of all image URLs in a conversation, which do not count as text. */
export const imageChars = (messages: readonly unknown[]): number =>
  messages
    .flatMap((message) => arrayOf(objectOf(message).content))
    .reduce<number>((sum, part) => sum + imageUrl(part).length, 0)

const imageUrl = (part: unknown): string => {
  const { type, image_url } = objectOf(part)
  if (type !== 'image_url') return ''
  return typeof image_url === 'string' ? image_url : textOf(objectOf(image_url).url)
}

/** Characters decoded to find the header: with long metadata of a photo, it is within the first hundreds of kB. */
const headChars = 1_000_000

const bytesOf = (dataUrl: string): Buffer => {
  const comma = dataUrl.indexOf(',')
  return Buffer.from(dataUrl.slice(comma + 1, comma + 1 + headChars), 'base64')
}

const nounOf = ({ header, url }: SeenImage): string =>
  header === null
    ? `at ${url.slice(0, 200)}, which a simulated model does not open`
    : `a ${header.format} of ${header.width} × ${header.height} pixels`

/**
 * Counts tiles as the provider does: scales to fit into 2048 × 2048, then to a shorter side of 768, and divides into
 * tiles.
 */
const tilesOf = ({ width, height }: Pick<ImageHeader, 'width' | 'height'>): number => {
  const fit = Math.min(1, 2048 / Math.max(width, height, 1))
  const shrink = fit * Math.min(1, 768 / (Math.min(width, height) * fit || 1))
  return Math.max(1, Math.ceil((width * shrink) / 512)) * Math.max(1, Math.ceil((height * shrink) / 512))
}
