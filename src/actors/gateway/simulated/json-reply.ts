import { isObject, objectOf, type WireObject } from '../wire.ts'
import { fillArguments } from './arguments.ts'
import { imageFacts, type SeenImage } from './images.ts'

/**
 * The answer in the form that `response_format` asks for: any JSON object, or one that the given schema accepts, filled
 * from what the user said; otherwise the text as it is.
 */
export const inFormat = (text: string, asked: string, images: readonly SeenImage[], format: unknown): string => {
  const { type, json_schema } = objectOf(format)
  if (type === 'json_schema') return JSON.stringify(fillArguments(schemaOf(json_schema), asked, ''))
  if (type !== 'json_object') return text
  return JSON.stringify({ reply: text, ...(images.length > 0 && { images: imageFacts(images) }) })
}

const schemaOf = (declared: unknown): WireObject => {
  const { schema } = objectOf(declared)
  return isObject(schema) ? schema : {}
}
