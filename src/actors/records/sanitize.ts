import type { Json } from '#storage/index.ts'

/** Replacement text for a secret. */
export const mask = '[masked]'

/** Maximum length of a result in views, in UTF-16 units. */
const maxShown = 2000

/** Maximum depth of traversal: deeper values are masked as a whole. */
const maxDepth = 64

/** Words that mark a key as secret when they are its last. `max_tokens` and `secret_name` do not end in one. */
const secretWords: ReadonlySet<string> = new Set([
  ...['password', 'passwd', 'passphrase', 'pwd', 'pass', 'pin', 'secret', 'token', 'jwt', 'apikey', 'bearer'],
  ...['authorization', 'auth', 'credential', 'credentials', 'cookie', 'cvv', 'cvc', 'ssn', 'iban'],
])

/** Pairs of words that mark a key as secret when they are its last, where the last word alone is inconclusive. */
const secretPairs: ReadonlySet<string> = new Set([
  ...['api key', 'access key', 'private key', 'secret key', 'signing key', 'encryption key', 'master key', 'auth key'],
  ...['card number', 'account number', 'routing number', 'security code', 'set cookie'],
])

/** Splits `clientSecret`, `x-api-key` or `CARD_NUMBER` into lower-case words. */
const wordsOf = (key: string): readonly string[] =>
  key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')

/** Quick check of a key's end, by which most keys are found not to be secret. */
const secretEnd =
  /(?:pass(?:word|wd|phrase)?|pwd|pin|secret|token|jwt|apikey|bearer|authorization|auth|credentials?|cookie|cvv|cvc|ssn|iban|key|number|code)[^a-z0-9]{0,256}$/

/** Whether the value of this key is a secret, whatever it looks like. */
export const isSecretKey = (key: string): boolean => {
  if (key.length < 256 && !secretEnd.test(key.toLowerCase())) return false
  const words = wordsOf(key)
  return secretWords.has(words.at(-1) ?? '') || secretPairs.has(words.slice(-2).join(' '))
}

/**
 * Patterns of secrets that are recognisable by their shape. A match cannot start inside a longer word, and there are no
 * nested repetitions: the time is linear for any text (`npm run check` tests this with adversarial input).
 */
const secretSpans = [
  /(?<![\w-])(?:sk|pk|rk|csk|cak|cpk|ect|whsec|ghp|gho|ghs|xox[abpr])[-_][A-Za-z0-9_-]{12,}/g,
  /(?<!\w)AKIA[0-9A-Z]{16}(?!\w)/g,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  /-----BEGIN (?:[A-Z]{1,12} ){0,3}PRIVATE KEY-----[^-]{0,16384}(?:-----END (?:[A-Z]{1,12} ){0,3}PRIVATE KEY-----)?/g,
  /(?<=(?<![\w-])[Bb]earer[ \t]{1,4})[A-Za-z0-9._~+/-]{12,}=*/g,
] as const

const cards = /(?<![\w-])[3-6](?:[ -]?\d){12,18}(?![\w-])/g
const ibans = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/g

/** Minimum length of a secret that is recognisable by its shape. */
const shortestSecret = 12

/** Masks every secret in a text that is recognisable by its shape, and nothing else. */
export const sanitizedText = (text: string): string => {
  if (text.length < shortestSecret) return text
  let shown = text
  for (const span of secretSpans) shown = shown.replace(span, mask)
  return shown
    .replace(cards, (found) => (passesLuhn(found) ? mask : found))
    .replace(ibans, (found) => (passesMod97(found) ? mask : found))
}

/**
 * Returns `value` as people may see it: secrets are masked by the name of their key, or by their own shape, and then
 * only the matching span. Models and tools get the value itself.
 */
export const sanitized = (value: Json): Json => sanitizedAt(value, 0)

const sanitizedAt = (value: Json, depth: number): Json => {
  if (typeof value === 'string') return sanitizedText(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= maxDepth) return mask
  if (Array.isArray(value)) return value.map((each: Json) => sanitizedAt(each, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, each]: [string, Json | undefined]) => [
      key,
      each === undefined || each === null ? each : isSecretKey(key) ? mask : sanitizedAt(each, depth + 1),
    ]),
  )
}

/** Verifies the check digit of payment cards. One order number in ten passes too; timestamps start differently. */
const passesLuhn = (card: string): boolean => {
  const digits = card.replace(/\D/g, '')
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at])
    const counted = at % 2 === 0 ? digit : digit * 2
    sum += counted > 9 ? counted - 9 : counted
  }
  return sum % 10 === 0
}

/** Verifies the check digits of ISO 13616: country code and check digits move to the end; letters count from 10. */
const passesMod97 = (iban: string): boolean => {
  const plain = iban.replaceAll(' ', '')
  let rest = 0
  for (const character of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

/** Truncates a tool's output for a view, to at most 2000 characters. */
export const truncated = (output: string): string =>
  output.length <= maxShown ? output : `${output.slice(0, maxShown)}… (${output.length} characters)`
