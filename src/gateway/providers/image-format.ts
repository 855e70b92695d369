import type { Route } from '#gateway/call/routes.ts'
import type { DocumentTarget } from './document-target.ts'

/** An image to edit, whose type was found by its bytes. */
export interface GivenImage {
  readonly bytes: Uint8Array
  readonly mimeType: string
}

/** The images of an edit. */
export interface GivenImages {
  readonly images: readonly GivenImage[]
  readonly mask: GivenImage | null
}

/** The closest of a model's aspect ratios to a size such as `1024x768`; null to leave it to the model, as `auto` does. */
export const ratioOf = (size: string, ratios: readonly string[]): string | null => {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size) ?? []
  if (width === undefined || height === undefined || Number(height) === 0) return null
  const distance = (ratio: string): number => {
    const [across = 1, down = 1] = ratio.split(':').map(Number)
    return Math.abs(Math.log(Number(width) / Number(height) / (across / down)))
  }
  return ratios.toSorted((a, b) => distance(a) - distance(b))[0] ?? null
}

/** An image as a URL that contains it. */
export const dataUrlOf = ({ bytes, mimeType }: GivenImage): string => `data:${mimeType};base64,${base64Of(bytes)}`

export const base64Of = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64')

/**
 * How images are requested of a provider by a document in OpenAI's form: edits of `given`, or for null generated ones.
 *
 * @returns null for what the provider does not offer.
 * @throws {ServiceError} `invalid_field` for what its API cannot express.
 */
export type ImageFormat = (route: Route, given: GivenImages | null) => DocumentTarget | null
