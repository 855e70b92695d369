import { badImage } from '#gateway/vision/image-sources.ts'
import { objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { defaultMaxBodyBytes } from '#specs/dsl/declare.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalid, invalidField, needText } from '#specs/errors/invalid-field.ts'

/** One part of a turn's input as the caller gave it. `at` names it in errors. */
export type GivenPart = { readonly at: string } & (
  | { readonly kind: 'text'; readonly text: string }
  /** By `url`, which may be a data URL, or by the id of a stored file. */
  | { readonly kind: 'image'; readonly url: string | null; readonly fileId: string | null; readonly detail: string }
)

/**
 * Checks the length of a body without the data of its images, which some clients escape. Pure.
 *
 * @throws {ServiceError} `body_too_large`
 */
export const checkLength = (bytes: number, parts: readonly WireObject[], param: string): void => {
  const data = parts.reduce((sum, part) => sum + dataLength(part.image_url), 0)
  if (bytes - data * escaped <= defaultMaxBodyBytes) return
  const message = 'Without its images, a request has at most 1 MB.'
  throw new ServiceError('body_too_large', { param, message })
}

/** Length of base64 in JSON if each of its slashes is escaped, with room for chance: one of 64 characters is a slash. */
const escaped = 1 + 1 / 32

/** Length of the texts and the addresses of parts. */
export const lengthOf = (parts: readonly WireObject[]): number =>
  parts.reduce((sum, { text, image_url: url }) => sum + textOf(text).length + textOf(url).length, 0)

const dataLength = (given: unknown): number => {
  const url = textOf(given) || textOf(objectOf(given).url)
  return url.startsWith('data:') ? url.length : 0
}

/**
 * Reads a part in the format of OpenAI's Responses API, or in that of chat completions. Pure.
 *
 * @throws {ServiceError} `invalid_field`, `missing_field`; `bad_request` for an image without content, and for a file
 */
export const givenPart = (part: WireObject, at: string): GivenPart => {
  switch (part.type) {
    case 'input_text':
    case 'text':
      return { kind: 'text', at, text: needText(part.text, `${at}.text`) }
    case 'input_image':
      return image({ ...part, url: part.image_url }, at, `${at}.image_url`)
    case 'image_url':
      return typeof part.image_url === 'string'
        ? image({ url: part.image_url }, at, `${at}.image_url`)
        : image(objectOf(part.image_url), at, `${at}.image_url.url`)
    case 'input_file':
    case 'file':
      throw badImage(at, 'must be a text or an image: files are not read')
    default:
      throw invalidField(`${at}.type`, 'A part must be input_text or input_image.')
  }
}

const details = ['', 'auto', 'low', 'high']

const image = ({ url, file_id, detail: given }: WireObject, at: string, urlAt: string): GivenPart => {
  const [address, fileId, detail] = [textOf(url), textOf(file_id), textOf(given)]
  if ((address === '') === (fileId === '')) throw badImage(urlAt, 'or file_id is required, and not both')
  // the schema checks only that of `input_image`
  if (!details.includes(detail))
    throw invalid(`${urlAt.slice(0, urlAt.lastIndexOf('.'))}.detail`, 'must be auto, low or high')
  const place = fileId === '' ? urlAt : `${at}.file_id`
  return { kind: 'image', at: place, url: address || null, fileId: fileId || null, detail }
}
