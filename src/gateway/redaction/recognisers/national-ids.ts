import { isIdentityCard, isTaxId } from './checks.ts'
import { before, type Hit, hitsOf, isCounted, type Reading, type Recogniser } from './recogniser.ts'

const ssnHint = /\d{3}[ -]?\d{2}[ -]?\d{4}/

/** United States social security numbers, except ranges that are never issued. */
export const socialSecurityNumbers: Recogniser = {
  types: ['us_ssn'],
  mayFind: (text) => ssnHint.test(text),
  find: ({ text }) =>
    hitsOf(text, ssn, {
      type: 'us_ssn',
      accepts: (match, start) =>
        match[3] === '-' ? !isCounted(text, start) : /(?:ssn|social security)[^\d\n]{0,16}$/i.test(before(text, start)),
    }),
}

const ssn = /(?<![\p{L}\p{N}_+]|\d[.-])(?!000|666|9)\d{3}([ -]?)(?!00)\d{2}\1(?!0000)\d{4}(?![\p{L}\p{N}_]|[.-]\d)/gu

interface NationalId {
  /** Cheap pre-check that matches wherever `shape` or `after` may match; most texts fail it. */
  readonly hint: RegExp
  /** Global pattern, bounded by characters that are neither letters nor digits. */
  readonly shape: RegExp
  /** Validates the check digits; receives upper-case letters and digits only. */
  readonly checks: (plain: string) => boolean
  /** Words of which one has to precede the number; for ids whose shape is a plain number. */
  readonly after?: RegExp
}

const edge = (shape: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}_]|\\d[.-])${shape}(?![\\p{L}\\p{N}_]|[.-]\\d)`, 'giu')

const nationalIds: readonly NationalId[] = [
  // Spain: DNI and NIE
  { hint: /\d{7}-?[A-Z]/i, shape: edge('(?:\\d{8}|[XYZ]-?\\d{7})-?[A-Z]'), checks: (id) => isTaxId(id, 'es-ES') },
  // Italy: codice fiscale
  {
    hint: /[A-Z]{6}\d{2}[A-Z]/i,
    shape: edge('[A-Z]{6}\\d{2}[A-Z]\\d{2}[A-Z]\\d{3}[A-Z]'),
    checks: (id) => isTaxId(id, 'it-IT'),
  },
  // Brazil: CPF
  {
    hint: /\d{3}\.\d{3}\.\d{3}-/,
    shape: edge('\\d{3}\\.\\d{3}\\.\\d{3}-\\d{2}'),
    checks: (id) => isTaxId(id, 'pt-BR'),
  },
  { hint: /CPF/i, shape: edge('\\d{11}'), checks: (id) => isTaxId(id, 'pt-BR'), after: words('CPF') },
  // Germany: Steuer-Identifikationsnummer
  {
    hint: /steuer|idnr|tin|tax id/i,
    shape: edge('\\d{2} ?\\d{3} ?\\d{3} ?\\d{3}'),
    checks: (id) => isTaxId(id, 'de-DE'),
    after: words('steuer\\p{L}*(?:[- ]?(?:id|nr|nummer|identifikationsnummer))?|idnr|tin|tax id'),
  },
  // Poland: PESEL
  { hint: /PESEL/i, shape: edge('\\d{11}'), checks: (id) => isIdentityCard(id, 'PL'), after: words('PESEL') },
  // Netherlands: BSN
  {
    hint: /BSN|burgers|sofi/i,
    shape: edge('\\d{9}'),
    checks: (id) => isTaxId(id, 'nl-NL'),
    after: words('BSN|burgerservicenummer|sofinummer'),
  },
  // India: Aadhaar
  {
    hint: /aadha|uid/i,
    shape: edge('\\d{4}[ -]?\\d{4}[ -]?\\d{4}'),
    checks: (id) => isIdentityCard(id, 'IN'),
    after: words('aadhaar|aadhar|uidai|uid'),
  },
  // United Kingdom: NHS number and national insurance number
  { hint: /NHS/i, shape: edge('\\d{3}[ -]?\\d{3}[ -]?\\d{4}'), checks: (id) => isNhsNumber(id), after: words('NHS') },
  {
    hint: /[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]/i,
    shape: edge('(?![DFIQUV])[A-Z](?![DFIOQUV])[A-Z] ?\\d{2} ?\\d{2} ?\\d{2} ?[A-D]'),
    checks: (id) => !/^(?:BG|GB|NK|KN|TN|NT|ZZ)/.test(id),
  },
  // France: numéro de sécurité sociale
  {
    hint: /[12] ?\d{2} ?\d{2} ?\d[\dAB]/i,
    shape: edge('[12] ?\\d{2} ?(?:0[1-9]|1[0-2]|[2-4]\\d) ?(?:\\d{2}|2[AB]) ?\\d{3} ?\\d{3} ?\\d{2}'),
    checks: (id) => isSecuriteSociale(id),
  },
]

function words(list: string): RegExp {
  return new RegExp(`(?<!\\p{L})(?:${list})(?!\\p{L})[^\\n]{0,24}$`, 'iu')
}

const none: readonly Hit[] = []

/**
 * A pattern that every shape contains: nine digits with at most one character between any two, or fewer digits with
 * letters. It begins with a digit, so that plain prose is skipped quickly.
 */
const anyShape = /\d{7}-?[A-Z]|\d{2}[A-Z]\d{2}|\d{2} ?\d{2} ?\d{2} ?[A-D]|\d[AB] ?\d{3}|\d(?:[ .-]?\d){8}/i

/** National ids of some countries, validated by their check digits. */
export const nationalIdNumbers: Recogniser = {
  types: ['national_id'],
  mayFind: (text) => anyShape.test(text),
  find: (reading) => nationalIds.flatMap((id) => idsIn(reading, id)),
}

const idsIn = ({ text }: Reading, { hint, shape, checks, after }: NationalId): readonly Hit[] =>
  hint.test(text)
    ? hitsOf(text, shape, {
        type: 'national_id',
        accepts: (match, start) => {
          if (after !== undefined && !after.test(before(text, start))) return false
          return checks(match.replace(/[ .-]/g, '').toUpperCase())
        },
      })
    : none

/** Validates the modulus 11 check digit (NHS Data Dictionary, "NHS number"). */
const isNhsNumber = (digits: string): boolean => {
  let sum = 0
  for (let at = 0; at < 9; at += 1) sum += Number(digits[at]) * (10 - at)
  const check = 11 - (sum % 11)
  return check !== 10 && (check === 11 ? 0 : check) === Number(digits[9])
}

/**
 * Validates the key, which is 97 minus the number modulo 97; the letters of Corsica are replaced by digits (INSEE,
 * "NIR").
 */
const isSecuriteSociale = (id: string): boolean => {
  const digits = id.replace('2A', '19').replace('2B', '18')
  return digits.length === 15 && 97 - Number(BigInt(digits.slice(0, 13)) % 97n) === Number(digits.slice(13))
}
