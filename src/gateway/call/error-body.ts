import { arrayOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'

/**
 * What a provider says of an error, as OpenAI says it (`message`, `type`, `code`, `param`), out of the forms that
 * compatible servers have for it: the object or the text of `error`, the object itself, what FastAPI says of a field
 * (`detail`), also as a `message`, ElevenLabs' `detail` and Deepgram's `err_msg`. Empty where none of them is there.
 */
export const errorIn = (body: string): WireObject => {
  const said = objectOf(parseJson(body))
  if (isObject(said.error)) return said.error
  if (typeof said.error === 'string') return { message: said.error, code: said.error }
  if (typeof said.err_msg === 'string') return { message: said.err_msg }
  const detail = said.detail ?? objectOf(said.message).detail
  return detail === undefined ? said : detailed(detail)
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
