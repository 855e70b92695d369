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

/** Whether images are among the messages: the call needs a model that can see. */
export const needOf = (messages: readonly unknown[]): 'chat' | 'vision' =>
  messages.some((message) => arrayOf(objectOf(message).content).some((part) => objectOf(part).type === 'image_url'))
    ? 'vision'
    : 'chat'
