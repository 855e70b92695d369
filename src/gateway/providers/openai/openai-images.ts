import type { Route } from '#gateway/call/routes.ts'
import { encodeJson, type WireBody } from '#outgoing/shares/encode-in-steps.ts'
import { isObject, type WireObject } from '#outgoing/wire.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { EncodedDocument } from '../document-target.ts'
import { dataUrlOf, type GivenImages, type ImageFormat, ratioOf } from '../image-format.ts'
import { filledForm } from '../multipart.ts'
import type { Headers } from '../provider-format.ts'

/** Where a server has OpenAI's operations. */
interface ImagePlace {
  readonly pathOf: (route: Route, operation: string) => string
  readonly headersOf: (route: Route) => Headers
}

/** OpenAI's images: generations by JSON, edits by a form; xAI takes edits by JSON. */
export const openAiImages =
  ({ pathOf, headersOf }: ImagePlace): ImageFormat =>
  (route, given) => {
    const headers = headersOf(route)
    if (given === null) return { path: pathOf(route, '/images/generations'), headers }
    const path = pathOf(route, '/images/edits')
    if (route.provider === 'xai') return { path, headers, encode: xaiEdit(given) }
    return { path, headers, encode: (document) => editForm(document, given) }
  }

/** Most images of an edit at xAI. */
const maxXaiImages = 3
const xaiRatios = ['1:1', '3:4', '4:3', '9:16', '16:9', '2:3', '3:2', '9:20', '20:9', '1:2', '2:1']

/** An edit as xAI's API has it, which knows neither masks nor sizes. @throws {ServiceError} `invalid_field` */
const xaiEdit = ({ images, mask }: GivenImages): ((document: WireObject) => EncodedDocument) => {
  if (mask !== null) throw invalidField('mask', "xAI's models take no mask.")
  if (images.length > maxXaiImages) throw invalidField('image', "xAI's models take at most three images.")
  const given = images.map((image) => ({ type: 'image_url', url: dataUrlOf(image) }))
  return ({ model, prompt, n, size, response_format, user, aspect_ratio, resolution }) => {
    const ratio = aspect_ratio ?? ratioOf(String(size), xaiRatios) ?? undefined
    const named = { model, prompt, n, response_format, user, aspect_ratio: ratio, resolution }
    const sent = given.length === 1 ? { image: given[0] } : { images: given }
    return { contentType: 'application/json', body: encodeJson({ ...named, ...sent }) }
  }
}

const editForm = async (document: WireObject, { images, mask }: GivenImages) => {
  const named = [
    ...images.map((image) => ({ field: images.length === 1 ? 'image' : 'image[]', ...image })),
    ...(mask === null ? [] : [{ field: 'mask', ...mask }]),
  ]
  const files = named.map(({ mimeType, ...file }) => ({ ...file, type: mimeType, ending: mimeType.slice(6) }))
  const fields = Object.entries(document).filter(isField)
  return filledForm(await Promise.all(fields.map(async ([name, value]) => [name, await textOf(value)] as const)), files)
}

/** Fields that a form cannot have are left out: they are none of OpenAI's. */
const isField = ([name, value]: readonly [string, unknown]): boolean =>
  value !== undefined && value !== null && /^[\w.-]{1,64}$/.test(name)

const textOf = (value: unknown): WireBody =>
  isObject(value) || Array.isArray(value) ? encodeJson(value) : String(value)
