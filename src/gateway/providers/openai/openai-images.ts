import type { Route } from '#gateway/call/routes.ts'
import { encodeJson, type WireBody } from '#outgoing/shares/encode-in-steps.ts'
import { isObject, type WireObject } from '#outgoing/wire.ts'
import type { GivenImages, ImageFormat } from '../image-format.ts'
import { filledForm } from '../multipart.ts'
import type { Headers } from '../provider-format.ts'

/** Where a server has OpenAI's operations. */
interface ImagePlace {
  readonly pathOf: (route: Route, operation: string) => string
  readonly headersOf: (route: Route) => Headers
}

/** OpenAI's images: generations by JSON, edits by a form. xAI takes edits in a format of its own. */
export const openAiImages =
  ({ pathOf, headersOf }: ImagePlace): ImageFormat =>
  (route, given) => {
    const headers = headersOf(route)
    if (given === null) return { path: pathOf(route, '/images/generations'), headers }
    if (route.provider === 'xai') return null
    return { path: pathOf(route, '/images/edits'), headers, encode: (document) => editForm(document, given) }
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
