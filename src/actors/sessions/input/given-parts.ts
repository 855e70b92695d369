import { badImage } from '#gateway/vision/image-sources.ts'
import { objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { invalid, invalidField, needText } from '#specs/errors/invalid-field.ts'

/** One part of a turn's input as the caller gave it. `at` names it in errors. */
export type GivenPart = { readonly at: string } & (
  | { readonly kind: 'text'; readonly text: string }
  /** By `url`, which may be a data URL, or by the id of a stored file. */
  | { readonly kind: 'image'; readonly url: string | null; readonly fileId: string | null; readonly detail: string }
)

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
