import { refused } from '#gateway/call/failure.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { arrayOf, countOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { DocumentTarget } from '../document-target.ts'
import { type ImageFormat, ratioOf } from '../image-format.ts'
import type { ProviderFormat } from '../provider-format.ts'

/** Whether a model makes images by a body that is known here, at one price whatever their size. */
export const isBedrockImager = (id: string): boolean =>
  /(?:^|\.)stability\.(?:sd3(?:-\d+)?-large|stable-image-(?:core|ultra))-v/.test(id)

/** Images by InvokeModel: Stability's models, which make one from a text. */
export const bedrockImages =
  (headers: ProviderFormat['headers'], failure: DocumentTarget['failure']): ImageFormat =>
  (route, given) => {
    if (given !== null || !isBedrockImager(route.model)) return null
    return {
      path: `/model/${encodeURIComponent(route.model)}/invoke`,
      headers: { accept: 'application/json', ...headers(route) },
      encode: (document) => ({ contentType: 'application/json', body: encodeJson(requestOf(document)) }),
      decode: answerOf,
      ...(failure && { failure }),
    }
  }

const ratios = ['1:1', '16:9', '21:9', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21']
const outputFormats = ['png', 'jpeg']

/** @throws {ServiceError} `invalid_field` */
const requestOf = ({ prompt, size, n, output_format: format }: WireObject): WireObject => {
  if (countOf(n) > 1) throw invalidField('n', "Stability's models make one image per request.")
  if (format !== undefined && !outputFormats.includes(textOf(format)))
    throw invalidField('output_format', "Stability's models make png or jpeg.")
  const aspect_ratio = ratioOf(textOf(size), ratios)
  return {
    prompt,
    ...(aspect_ratio !== null && { aspect_ratio }),
    ...(format !== undefined && { output_format: format }),
  }
}

/** @throws {AttemptFailed} `content_policy_violation`, `provider_error` when there is no image. */
const answerOf = ({ images, finish_reasons }: WireObject, document: WireObject): WireObject => {
  const reason = textOf(arrayOf(finish_reasons)[0])
  if (/filter/i.test(reason))
    throw refused(new ModelError('content_policy_violation', 'The provider refused the content of the request.'))
  const made = arrayOf(images).map(textOf)
  if (made.length === 0 || reason !== '' || made.includes(''))
    throw refused(new ModelError('provider_error', 'The model returned no image.'))
  const { response_format, output_format: format = 'png' } = objectOf(document)
  const data = made.map((base64) =>
    response_format === 'url' ? { url: `data:image/${textOf(format)};base64,${base64}` } : { b64_json: base64 },
  )
  return { created: Math.floor(Date.now() / 1000), data }
}
