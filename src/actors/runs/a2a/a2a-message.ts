import { isObject } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Json, JsonObject } from '#storage/index.ts'

/** A message of another agent, as far as runs take it. */
export interface A2aMessage {
  readonly messageId: string
  readonly contextId: string | null
  /** The task that the message answers; null: it begins one. */
  readonly taskId: string | null
  readonly text: string
  readonly data: readonly Json[]
}

/** Most parts of a message. */
const maxParts = 4096

/**
 * Reads a message. Pure.
 *
 * @throws {ServiceError} `invalid_field` with the place of what a run cannot take.
 */
export const a2aMessage = (message: Json | undefined, place: string): A2aMessage => {
  if (!isObject(message)) throw invalid(place, 'It must be a message.')
  const { role, parts } = message
  if (role !== 'ROLE_USER') throw invalid(`${place}.role`, 'It must be ROLE_USER.')
  if (!Array.isArray(parts) || parts.length === 0 || parts.length > maxParts)
    throw invalid(`${place}.parts`, `It must be a list of 1 to ${maxParts} parts.`)
  const messageId = idOf(message.messageId, `${place}.messageId`)
  if (messageId === null) throw invalid(`${place}.messageId`, 'Every message needs an id of its own.')
  const read = parts.map((part, at) => partOf(part, `${place}.parts[${at}]`))
  return {
    messageId,
    contextId: idOf(message.contextId, `${place}.contextId`),
    taskId: idOf(message.taskId, `${place}.taskId`),
    text: read.flatMap(({ text }) => (text === undefined ? [] : [text])).join('\n\n'),
    data: read.flatMap(({ data }) => (data === undefined ? [] : [data])),
  }
}

const invalid = (param: string, message: string, extra?: JsonObject): ServiceError =>
  new ServiceError('invalid_field', { param, message, ...(extra !== undefined && { extra }) })

/** An id; null for none, as '' in the protocol. */
const idOf = (value: Json | undefined, place: string): string | null => {
  if (value === undefined || value === null || value === '') return null
  if (typeof value === 'string' && value.length <= 256) return value
  throw invalid(place, 'It must be an id of at most 256 characters.')
}

const partOf = (part: Json, place: string): { readonly text?: string; readonly data?: Json } => {
  if (!isObject(part)) throw invalid(place, 'It must be a part.')
  const { text, data, raw, url, file } = part
  const isFile = raw !== undefined || url !== undefined || file !== undefined
  if (!isFile && typeof text === 'string') return { text }
  if (!isFile && data !== undefined) return { data }
  throw invalid(place, 'A run takes texts and JSON values only, not files.', { reason: 'CONTENT_TYPE_NOT_SUPPORTED' })
}
