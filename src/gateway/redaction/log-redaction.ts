import { defaultTypes } from '#specs/resources/gateway/redaction.ts'
import { findHits } from './find-personal-data.ts'
import { Placeholders } from './placeholders.ts'
import { bytesOfBase64, protectedSpans } from './protected-spans.ts'

const sought = { types: new Set(defaultTypes), region: 'US' }

/**
 * A body as the request log keeps it, JSON or any other text, also one that was cut off: personal data and secrets as
 * placeholders, values of keys such as `password` as `[SECRET]`, and long base64 as its size. JSON stays JSON, and what
 * is not replaced stays as it was. Words that a stream cut in two are not put together: give it the whole text.
 */
export const redactForLog = (body: string): string => {
  const sized = withSizes(body)
  const masked = secretKeys.test(sized) ? withoutSecretValues(sized) : sized
  const placeholders = new Placeholders(findHits(sought))
  return looksLikeJson.test(masked) ? placeholders.redactJson(masked) : placeholders.redact(masked)
}

/** JSON, whole or cut off, or events with JSON. */
const looksLikeJson = /^\s{0,16}(?:[{["]|(?:data|event|id): )/

const withSizes = (body: string): string => {
  const spans = protectedSpans(body)
  if (spans.length === 0) return body
  let shown = ''
  let from = 0
  for (const { start, end, mimeType } of spans) {
    shown += `${body.slice(from, start)}[${kindOf(mimeType)} ${sizeOf(body.slice(start, end), mimeType)} bytes]`
    from = end
  }
  return shown + body.slice(from)
}

const sizeOf = (text: string, mimeType: string): number =>
  bytesOfBase64(mimeType === '' ? text : text.slice(text.indexOf(',') + 1))

const kindOf = (mimeType: string): string => {
  const kind = mimeType.split('/', 1)[0] ?? ''
  return ['image', 'audio', 'video'].includes(kind) ? kind.toUpperCase() : kind === '' ? 'BASE64' : 'FILE'
}

/** Names whose value is a secret whatever it looks like. `max_tokens` and the like are none of them. */
const secretNames =
  'pass(?:word|wd|phrase|code)|secret|(?:client|signing|webhook)[_-]?secret|api[_-]?key|(?:access|refresh|auth|id|bearer|session)[_-]?token|(?:access|private|secret)[_-]?key|x-api-key|authorization|cookie|set-cookie|cvv|cvc|pin'

const secretKeys = new RegExp(String.raw`"(?:${secretNames})\\?"\s{0,8}:`, 'i')

/** Values in JSON, and in JSON within a string of JSON, as the arguments of tool calls are. */
const outerValues = new RegExp(String.raw`("(?:${secretNames})"\s{0,8}:\s{0,8}")(?:[^"\\]|\\.)*`, 'gis')
const innerValues = new RegExp(
  String.raw`(\\"(?:${secretNames})\\"\s{0,8}:\s{0,8}\\")(?:[^"\\]|\\\\(?:\\["\\]|[^\\"]))*`,
  'gi',
)

const withoutSecretValues = (body: string): string =>
  body.replace(outerValues, '$1[SECRET]').replace(innerValues, '$1[SECRET]')
