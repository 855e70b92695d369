import type { Json } from '../../storage/ports.ts'

/** Stands where a secret was. */
export const mask = '[masked]'

/** Results longer than this are cut in views, in UTF-16 units. */
const maxShown = 2000

const secretKey =
  /pass(word|phrase|wd)?$|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|authorization|credential|cookie|^pin$|cvv|cvc|^ssn$|card[-_]?number|iban$/i

const secretValue = [
  /\b(sk|pk|rk|csk|cak|cpk|ect|whsec|ghp|gho|ghs|xox[abpr])[-_][A-Za-z0-9_-]{12,}/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\bBearer\s+[A-Za-z0-9._~+/-]{12,}/i,
  /\b(?:\d[ -]?){13,19}\b/,
] as const

/** `value` without what looks like a secret, by the name of its key or by its own shape (interface-additions "actions"). */
export const sanitized = (value: Json): Json => {
  if (typeof value === 'string') return secretValue.some((pattern) => pattern.test(value)) ? mask : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each: Json) => sanitized(each))
  return Object.fromEntries(
    Object.entries(value).map(([key, each]: [string, Json | undefined]) => [
      key,
      each === undefined || each === null ? each : secretKey.test(key) ? mask : sanitized(each),
    ]),
  )
}

/** A tool's output as a view shows it: at most 2000 characters. */
export const truncated = (output: string): string =>
  output.length <= maxShown ? output : `${output.slice(0, maxShown)}… (${output.length} characters)`
