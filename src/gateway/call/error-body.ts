import { arrayOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'

/**
 * Extracts the error of a provider's response body in OpenAI's form (`message`, `type`, `code`, `param`). Understands
 * the variants of compatible servers: `error` as an object or a string, a bare error object, FastAPI's `detail` (also
 * nested in `message`), ElevenLabs' `detail` and Deepgram's `err_msg`. Returns an empty object for a body that is not a
 * JSON object.
 */
export const errorIn = (body: string): WireObject => {
  const parsed = objectOf(parseJson(body))
  if (isObject(parsed.error)) return parsed.error
  if (typeof parsed.error === 'string') return { message: parsed.error, code: parsed.error }
  if (typeof parsed.err_msg === 'string') return { message: parsed.err_msg }
  const detail = parsed.detail ?? objectOf(parsed.message).detail
  return detail === undefined ? parsed : detailed(detail)
}

const detailed = (detail: unknown): WireObject => {
  if (isObject(detail)) return { message: detail.message, code: detail.status }
  const { loc, msg } = objectOf(arrayOf(detail)[0])
  const param = arrayOf(loc)
    .filter((part) => part !== 'body')
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${textOf(part)}`))
    .join('')
    .replace(/^\./, '')
  return { message: textOf(detail) || textOf(msg), param }
}
