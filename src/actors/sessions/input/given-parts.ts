import { badImage } from '#gateway/vision/image-sources.ts'
import { objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { invalidField, needText } from '#specs/errors/invalid-field.ts'

/** One part of a turn's input as the caller gave it. `at` names it in errors. */
export type GivenPart = { readonly at: string } & (
  | { readonly kind: 'text'; readonly text: string }
  /** By `url`, which may be a data URL, or by the id of a stored file. */
  | { readonly kind: 'image'; readonly url: string | null; readonly fileId: string | null; readonly detail: string }
  | {
      readonly kind: 'file'
      readonly data: string | null
      readonly fileId: string | null
      readonly filename: string | null
    }
)

/**
 * Reads a part in the format of OpenAI's Responses API, or in that of chat completions. Pure.
 *
 * @throws {ServiceError} `invalid_field`, `missing_field`; `bad_request` for an image or a file without content
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
      return file(part, at)
    case 'file':
      return file(objectOf(part.file), `${at}.file`)
    default:
      throw invalidField(`${at}.type`, 'A part must be one of input_text, input_image and input_file.')
  }
}

const image = ({ url, file_id, detail }: WireObject, at: string, urlAt: string): GivenPart => {
  const [address, fileId] = [textOf(url), textOf(file_id)]
  if ((address === '') === (fileId === '')) throw badImage(urlAt, 'or file_id is required, and not both')
  return {
    kind: 'image',
    at: fileId === '' ? urlAt : `${at}.file_id`,
    ...given(address, fileId),
    detail: textOf(detail),
  }
}

const given = (url: string, fileId: string) => ({ url: url || null, fileId: fileId || null })

const file = ({ file_data, file_id, file_url, filename }: WireObject, at: string): GivenPart => {
  if (textOf(file_url) !== '') throw badImage(`${at}.file_url`, 'is not fetched: send file_data or file_id')
  const [data, fileId] = [textOf(file_data), textOf(file_id)]
  if ((data === '') === (fileId === '')) throw badImage(`${at}.file_data`, 'or file_id is required, and not both')
  const place = fileId === '' ? `${at}.file_data` : `${at}.file_id`
  return { kind: 'file', at: place, data: data || null, fileId: fileId || null, filename: textOf(filename) || null }
}
