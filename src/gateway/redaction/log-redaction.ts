import { defaultTypes } from '#specs/resources/gateway/redaction.ts'
import { findHits } from './find-personal-data.ts'
import { Placeholders } from './placeholders.ts'
import { bytesOfBase64, protectedSpans } from './protected-spans.ts'

const sought = { types: new Set(defaultTypes), region: 'US' }

/**
 * Redacts a body for the request log; it may be JSON or any other text, and may be truncated. Personal data and secrets
 * become placeholders, values of keys such as `password` become `[SECRET]`, and long base64 becomes its size. JSON
 * stays valid JSON, and everything else is unchanged. Data that is split across two stream chunks is not recognised:
 * pass the whole text.
 */
export const redactForLog = (body: string): string => {
  const sized = withSizes(body)
  const masked = secretKeys.test(sized) ? withoutSecretValues(sized) : sized
  const placeholders = new Placeholders(findHits(sought))
  return jsonLike.test(masked) ? placeholders.redactJson(masked) : placeholders.redact(masked)
}

/** JSON, complete or truncated, or server-sent events with JSON. */
const jsonLike = /^\s{0,16}(?:[{["]|(?:data|event|id): )/

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

/** Keys whose value is always a secret. `max_tokens` and similar keys are not among them. */
const secretNames =
  'pass(?:word|wd|phrase|code)|secret|(?:client|signing|webhook)[_-]?secret|api[_-]?key|(?:access|refresh|auth|id|bearer|session)[_-]?token|(?:access|private|secret)[_-]?key|x-api-key|authorization|cookie|set-cookie|cvv|cvc|pin'

const secretKeys = new RegExp(String.raw`"(?:${secretNames})\\?"\s{0,8}:`, 'i')

/** Values of secret keys in JSON, and in JSON nested in a JSON string, as in arguments of tool calls. */
const outerValues = new RegExp(String.raw`("(?:${secretNames})"\s{0,8}:\s{0,8}")(?:[^"\\]|\\.)*`, 'gis')
const innerValues = new RegExp(
  String.raw`(\\"(?:${secretNames})\\"\s{0,8}:\s{0,8}\\")(?:[^"\\]|\\\\(?:\\["\\]|[^\\"]))*`,
  'gi',
)

const withoutSecretValues = (body: string): string =>
  body.replace(outerValues, '$1[SECRET]').replace(innerValues, '$1[SECRET]')
