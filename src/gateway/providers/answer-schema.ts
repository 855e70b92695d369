import { isObject, objectOf, type WireObject } from '#outgoing/wire.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'

/**
 * Returns the JSON form requested in `response_format`; null for plain text. `schema` is null when any JSON object will
 * do.
 */
export function answerSchema(body: WireObject): { readonly schema: WireObject | null } | null {
  const format = body.response_format
  if (format === undefined || format === null) return null
  const { type, json_schema } = objectOf(format)
  if (type === 'text') return null
  if (type === 'json_object') return { schema: null }
  const schema = objectOf(json_schema).schema
  if (type === 'json_schema' && isObject(schema)) return { schema }
  throw invalidField('response_format', 'response_format must be text, json_object, or json_schema with a schema.')
}
