import { maxValuesOfShort, parseJson } from '#outgoing/shares/json-body.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { Json, JsonObject } from '#storage/index.ts'
import { asJson } from '../api/schema.ts'

/** One frame of a client, validated as far as the socket itself needs. */
export type ClientFrame =
  | { readonly type: 'turn' | 'approve' | 'reject'; readonly body: JsonObject }
  | { readonly type: 'resume'; readonly after: number }
  | { readonly type: 'cancel' }

/**
 * Parses a client's frame, within the limits of any other body; a long one over several loop turns. The handlers of
 * `turn` and `approve` validate their bodies further.
 *
 * @throws {ServiceError} (rejects) `malformed_json`, `body_too_large`, `bad_request`, `missing_field`, `invalid_field`,
 * `unknown_field`.
 */
export const readClientFrame = async (text: string): Promise<ClientFrame> => {
  const frame = await parse(text)
  const { type, ...body } = frame
  switch (type) {
    case 'turn':
      return { type, body }
    case 'approve':
      return { type, body: withActionId(body) }
    case 'reject':
      return { type, body: withActionId(only(body, 'action_id')) }
    case 'resume':
      return { type, after: sequence(only(body, 'after')) }
    case 'cancel':
      only(body)
      return { type }
    case undefined:
      throw new ServiceError('missing_field', { param: 'type' })
    default:
      throw invalidField('type', 'A frame must have the type turn, approve, reject, resume or cancel.')
  }
}

const parse = async (text: string): Promise<JsonObject> => {
  const value = asJson(await parseJson(Buffer.from(text), maxValuesOfShort))
  if (isObject(value)) return value
  throw new ServiceError('bad_request', { message: 'A frame must be a JSON object.' })
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const only = (body: JsonObject, ...names: readonly string[]): JsonObject => {
  const unknown = Object.keys(body).find((name) => !names.includes(name))
  if (unknown !== undefined) throw new ServiceError('unknown_field', { param: unknown })
  return body
}

const withActionId = (body: JsonObject): JsonObject => {
  const { action_id: id } = body
  if (id === undefined) throw new ServiceError('missing_field', { param: 'action_id' })
  if (typeof id !== 'string' || id === '') throw new ServiceError('invalid_field', { param: 'action_id' })
  return body
}

const sequence = ({ after }: JsonObject): number => {
  if (after === undefined) throw new ServiceError('missing_field', { param: 'after' })
  if (typeof after === 'number' && Number.isSafeInteger(after) && after >= 0) return after
  throw new ServiceError('invalid_field', { param: 'after' })
}
