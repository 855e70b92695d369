import { arrayOf, isObject, objectOf, textOf } from '#outgoing/wire.ts'
import { type ImageHeader, imageHeader } from './image-header.ts'

/** One image of the last message of the user. */
export interface SeenImage {
  /** null: it is somewhere else, and a simulated model opens no address. */
  readonly header: ImageHeader | null
  readonly url: string
}

/** Whether an image is there that cannot be read. */
export type Images = { readonly kind: 'seen'; readonly images: readonly SeenImage[] } | { readonly kind: 'unreadable' }

/** The images in the last message of the user, in order. */
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

/** One sentence an image: format and size out of its own bytes. */
export const describeImages = (images: readonly SeenImage[]): string =>
  images.map((image, place) => `Image ${place + 1} is ${nounOf(image)}. `).join('')

/** Images as a JSON answer names them. */
export const imageFacts = (images: readonly SeenImage[]): readonly object[] =>
  images.map(({ header, url }) => header ?? { url })

/** Tokens of input as OpenAI counts images that are looked at closely: 85, and 170 a tile of 512 pixels. */
export const imageTokens = (images: readonly SeenImage[]): number =>
  images.reduce((sum, { header }) => sum + 85 + 170 * tilesOf(header ?? { width: 512, height: 512 }), 0)

/** Characters of all images in a conversation, which are no text to count. */
export const imageChars = (messages: readonly unknown[]): number =>
  messages
    .flatMap((message) => arrayOf(objectOf(message).content))
    .reduce<number>((sum, part) => sum + imageUrl(part).length, 0)

const imageUrl = (part: unknown): string => {
  const { type, image_url } = objectOf(part)
  if (type !== 'image_url') return ''
  return typeof image_url === 'string' ? image_url : textOf(objectOf(image_url).url)
}

/** Headers stand within the first bytes; of a photo with a long preface, within the first hundreds of kB. */
const headChars = 1_000_000

const bytesOf = (dataUrl: string): Buffer => {
  const comma = dataUrl.indexOf(',')
  return Buffer.from(dataUrl.slice(comma + 1, comma + 1 + headChars), 'base64')
}

const nounOf = ({ header, url }: SeenImage): string =>
  header === null
    ? `at ${url.slice(0, 200)}, which a simulated model does not open`
    : `a ${header.format} of ${header.width} × ${header.height} pixels`

/** Shrunk into 2048 × 2048 and then to a shorter side of 768, as the provider does before it cuts tiles. */
const tilesOf = ({ width, height }: Pick<ImageHeader, 'width' | 'height'>): number => {
  const fit = Math.min(1, 2048 / Math.max(width, height, 1))
  const shrink = fit * Math.min(1, 768 / (Math.min(width, height) * fit || 1))
  return Math.max(1, Math.ceil((width * shrink) / 512)) * Math.max(1, Math.ceil((height * shrink) / 512))
}
