import { arrayOf, objectOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** @param param path of the field, such as `messages[2].content[0].type`. */
export const invalid = (param: string, why: string): ServiceError =>
  new ServiceError('invalid_field', { param, message: `${param} ${why}.` })

/** @param param path of the field that is not there. */
export const missing = (param: string): ServiceError => new ServiceError('missing_field', { param })

/** A field that has to be text with something in it. @throws {ServiceError} `missing_field`, `invalid_field` */
export const needText = (value: unknown, param: string): string => {
  if (value === undefined || value === null) throw missing(param)
  if (typeof value !== 'string') throw invalid(param, 'must be string')
  if (value === '') throw invalid(param, 'must not be empty')
  return value
}

/** A field without those that are undefined or null: what a caller left out is not sent. */
export const given = (fields: WireObject): WireObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))

/** The warning that tools were left out, since the provider that serves the call does not know them; by their types. */
export const ignoredTools = (types: readonly string[]): readonly (readonly [name: string, value: string])[] =>
  types.length === 0 ? [] : [['x-ignored-tools', [...new Set(types)].slice(0, 16).map(headerWord).join(', ')]]

/** What may stand in a header of a word that callers wrote. */
const headerWord = (type: string): string => type.replace(/[^\w.-]/g, '_').slice(0, 64)

/** Whether images are among the messages: the call needs a model that can see. */
export const needOf = (messages: readonly unknown[]): 'chat' | 'vision' =>
  messages.some((message) => arrayOf(objectOf(message).content).some((part) => objectOf(part).type === 'image_url'))
    ? 'vision'
    : 'chat'
