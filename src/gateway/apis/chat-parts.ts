import { arrayOf, objectOf, type WireObject } from '#outgoing/wire.ts'
import { invalid, needText } from '#specs/errors/invalid-field.ts'

export { invalid, missing, needText } from '#specs/errors/invalid-field.ts'

/** Returns an object without its undefined and null fields, so that what a caller left out is not sent. */
export const given = (fields: WireObject): WireObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))

/** Returns the media type of base64, which becomes part of a `data:` URL. @throws {ServiceError} `missing_field`, `invalid_field` */
export const needMediaType = (value: unknown, param: string): string => {
  const type = needText(value, param)
  if (/^[\w.+-]+\/[\w.+-]+(?:;[\w-]+=[^\s;,]*)*$/.test(type)) return type
  throw invalid(param, 'must be a media type, such as image/png')
}

/** Header that lists, by type, the tools that were left out because the provider of the call does not know them. */
export const ignoredTools = (types: readonly string[]): readonly (readonly [name: string, value: string])[] =>
  types.length === 0 ? [] : [['x-ignored-tools', [...new Set(types)].slice(0, 16).map(headerWord).join(', ')]]

/** Replaces the characters of a caller's text that a header may not contain. */
const headerWord = (type: string): string => type.replace(/[^\w.-]/g, '_').slice(0, 64)

/** The need of a call: `vision` when its messages have images. */
export const needOf = (messages: readonly unknown[]): 'chat' | 'vision' =>
  messages.some((message) => arrayOf(objectOf(message).content).some((part) => objectOf(part).type === 'image_url'))
    ? 'vision'
    : 'chat'
