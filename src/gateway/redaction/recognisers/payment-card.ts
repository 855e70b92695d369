import { isLuhn } from './checks.ts'
import { hitsOf, type Recogniser } from './recogniser.ts'

/** What is written between the groups of one number; the same between all of them. */
const gap = ' - | {1,2}|[./_+-]'

/** Groups as they are printed or typed, single digits as they are dictated, and digits without separators. */
const shapes = [
  `\\d{4}(?<a>${gap})\\d{4}\\k<a>\\d{4}\\k<a>\\d{3,4}(?:\\k<a>\\d{3})?`,
  `3[47]\\d\\d(?<b>${gap})\\d{6}\\k<b>\\d{5}`,
  `3[068]\\d\\d(?<c>${gap})\\d{6}\\k<c>\\d{4}`,
  '\\d{8}[ -]\\d{8}',
  '(?<!\\d )\\d(?: \\d){13,18}(?! \\d)',
  '\\d{14,19}',
]

const shaped = new RegExp(`(?<![\\p{L}\\p{N}_+]|\\d[.-])(?:${shapes.join('|')})(?![\\p{L}\\p{N}_]|[.-]\\d)`, 'gu')

/** Ranges that card schemes issue (ISO/IEC 7812), by length. */
const issued: readonly (readonly [lengths: readonly number[], start: RegExp])[] = [
  [[16, 18, 19], /^4/],
  [[16], /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/],
  [[15], /^3[47]/],
  [[14], /^3(?:0[0-5]|[689])/],
  [[16, 17, 18, 19], /^(?:6011|64[4-9]|65|62|81)/],
  [[16, 17, 18, 19], /^35(?:2[89]|[3-8])/],
  [[16, 17, 18, 19], /^(?:50|5[6-9]|6[0137-9]|220[0-4]|9792)/],
]

/**
 * Whether the digits are a card number: in an issued range, with a valid check digit, and not a single repeated digit.
 */
const isCard = (digits: string): boolean =>
  issued.some(([lengths, start]) => lengths.includes(digits.length) && start.test(digits)) &&
  isLuhn(digits) &&
  !/^(\d)\1+$/.test(digits)

/** Every shape has at least 14 digits with at most three characters between any two. */
const hint = /\d(?:[ ./_+\n\t-]{0,3}\d){13}/

/** Numbers of payment cards. */
export const paymentCards: Recogniser = {
  types: ['payment_card'],
  mayFind: (text) => hint.test(text),
  find: ({ text }) =>
    hitsOf(text, shaped, { type: 'payment_card', accepts: (match) => isCard(match.replace(/\D/g, '')) }),
}
