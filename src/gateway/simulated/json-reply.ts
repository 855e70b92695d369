import { isObject, objectOf, type WireObject } from '#outgoing/wire.ts'
import { fillArguments } from './arguments.ts'
import { imageFacts, type SeenImage } from './images.ts'

/**
 * Formats the reply as `response_format` requests: as any JSON object, or as one that fits the given schema and is
 * filled from the prompt. Other formats leave the text unchanged.
 */
export const inFormat = (
  text: string,
  { prompt, images }: { readonly prompt: string; readonly images: readonly SeenImage[] },
  format: unknown,
): string => {
  const { type, json_schema } = objectOf(format)
  if (type === 'json_schema') return JSON.stringify(fillArguments(schemaOf(json_schema), prompt, ''))
  if (type !== 'json_object') return text
  const named = namedFields(prompt, text, images)
  if (named !== null) return JSON.stringify(named)
  return JSON.stringify({ reply: text, ...(images.length > 0 && { images: imageFacts(images) }) })
}

/** Maximum number of fields, and of the characters of each if there are several. */
const maxFields = 100
const maxFieldChars = 8 * 1024

/**
 * Returns an object with the fields of a JSON example in the prompt, where `"name": [` is a list; null when there is
 * none.
 */
const namedFields = (prompt: string, text: string, images: readonly SeenImage[]): WireObject | null => {
  const fields = [...prompt.matchAll(/"(\w{1,64})"\s*:\s*(\[?)/g)].slice(0, maxFields)
  const value = fields.length === 1 ? text : text.slice(0, maxFieldChars)
  const words = images.flatMap(({ header }) =>
    header === null ? [] : [header.format.toLowerCase(), `${header.width}x${header.height}`],
  )
  const filled = fields.map(([, name = '', list]) => [name, list === '[' ? words : value] as const)
  return filled.length === 0 ? null : Object.fromEntries(filled)
}

const schemaOf = (declared: unknown): WireObject => {
  const { schema } = objectOf(declared)
  return isObject(schema) ? schema : {}
}
