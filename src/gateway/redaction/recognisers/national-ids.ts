import { anyWord, type NationalId, named, shaped } from './national-id-shapes.ts'
import { before, type Hit, hitsOf, isCounted, type Reading, type Recogniser } from './recogniser.ts'

const ssnHint = /\d{3}[ -]?\d{2}[ -]?\d{4}/

/** United States social security numbers, except ranges that are never issued. */
export const socialSecurityNumbers: Recogniser = {
  types: ['us_ssn'],
  mayFind: (text) => ssnHint.test(text),
  find: ({ text, words }) =>
    hitsOf(text, ssn, {
      type: 'us_ssn',
      accepts: (match, start) =>
        match[3] === '-'
          ? !isCounted(words, start)
          : /(?:ssn|social security)[^\d\n]{0,16}$/i.test(before(words, start)),
    }),
}

const ssn = /(?<![\p{L}\p{N}_+]|\d[.-])(?!000|666|9)\d{3}([ -]?)(?!00)\d{2}\1(?!0000)\d{4}(?![\p{L}\p{N}_]|[.-]\d)/gu

/**
 * A pattern that every shape contains: nine digits with at most one character between any two, or fewer digits with
 * letters. It begins with a digit, so that plain prose is skipped quickly.
 */
const anyShape =
  /\d{7}-?[A-Z]|\d{4}[A-Z(]|\d{2}[A-Z]\d{2}|\d{2} ?\d{2} ?\d{2} ?[A-D]|\d[AB] ?\d{3}|\d{6}[+/-]\d{3}|\d{2}\.\d{3}\.\d{3}-|\d{6,8}-[\dK]|\d(?:[ .-]?\d){7}/i

/** National ids: by their shape and check digits, or by a word before a plain number. */
export const nationalIdNumbers: Recogniser = {
  types: ['national_id'],
  mayFind: (text) => anyShape.test(text),
  find: (reading) => {
    const hits: Hit[] = []
    for (const id of shaped) if (id.hint.test(reading.words)) hits.push(...idsIn(reading, id))
    if (!anyWord.test(reading.words)) return hits
    for (const id of named) if (id.hint.test(reading.words)) hits.push(...idsIn(reading, id))
    return hits
  },
}

const idsIn = ({ text, words }: Reading, { shape, checks, after, isLikeOrders }: NationalId): readonly Hit[] =>
  hitsOf(text, shape, {
    type: 'national_id',
    accepts: (match, start) => {
      if (after !== undefined && !after.test(before(words, start))) return false
      if (isLikeOrders === true && isCounted(words, start)) return false
      return checks?.(match.replace(/[ ./()-]/g, '').toUpperCase(), match.toUpperCase()) ?? true
    },
  })
