import { isIban } from './checks.ts'
import type { Hit, Recogniser } from './recogniser.ts'

/** A country and its check digits, also right after the word for it. */
const opening = /(?:(?<![\p{L}\p{N}_])|(?<=iban))[A-Z]{2} ?\d{2}(?=[ \n\t./_+-]{0,2}[A-Z0-9])/giu

/** IBAN length by country (SWIFT registry). Codes of other countries are not IBANs. */
const lengths: Readonly<Record<string, number>> = Object.fromEntries(
  [
    'NO15 BE16 DK18 FI18 FK18 FO18 GL18 SD18 NL18 MK19 SI19 AT20 BA20 EE20 KZ20 LT20 LU20 XK20 MN20',
    'CH21 HR21 LI21 LV21 BG22 BH22 CR22 DE22 GB22 GE22 IE22 ME22 RS22 VA22 AE23 GI23 IL23 IQ23 OM23 SO23 TL23',
    'AD24 CZ24 ES24 MD24 PK24 RO24 SA24 SE24 SK24 TN24 VG24 LY25 PT25 ST25 IS26 TR26',
    'BI27 DJ27 FR27 GR27 IT27 MC27 MR27 SM27 AL28 AZ28 BY28 CY28 DO28 GT28 HN28 HU28 LB28 NI28 PL28 SV28',
    'BR29 EG29 PS29 QA29 UA29 JO30 KW30 MU30 YE30 MT31 SC31 LC32 RU33',
  ].flatMap((line) => line.split(' ').map((each) => [each.slice(0, 2), Number(each.slice(2))])),
)

const hint = /[A-Z]{2} ?\d{2}[ \n\t./_+-]{0,2}[A-Z0-9]/i

/** International bank account numbers, with or without grouping. */
export const ibans: Recogniser = {
  types: ['iban'],
  mayFind: (text) => hint.test(text),
  find: ({ text }) => {
    const hits: Hit[] = []
    opening.lastIndex = 0
    for (let found = opening.exec(text); found !== null; found = opening.exec(text)) {
      const { 0: head, index: start } = found
      const length = lengths[head.slice(0, 2).toUpperCase()]
      const end = length === undefined ? null : endOf(text, start, length)
      if (end === null) continue
      if (
        isIban(
          text
            .slice(start, end)
            .replace(/[^A-Za-z0-9]/g, '')
            .toUpperCase(),
        )
      )
        hits.push({ start, end, type: 'iban' })
    }
    return hits
  },
}

/**
 * Returns the end of a run of exactly `length` letters and digits, with up to two separators between any two; null when
 * there is no such run.
 */
const endOf = (text: string, start: number, length: number): number | null => {
  let at = start
  for (let counted = 0; counted < length; counted += 1) {
    for (let gap = 0; counted > 0 && gap < 2 && isSeparator(text.charCodeAt(at)); gap += 1) at += 1
    if (!isPlain(text.charCodeAt(at))) return null
    at += 1
  }
  return isPlain(text.charCodeAt(at)) ? null : at
}

const separators: ReadonlySet<number> = new Set(Array.from(' \n\t./_+-', (each) => each.charCodeAt(0)))

const isSeparator = (code: number): boolean => separators.has(code)

const isPlain = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
