import { phoneOf } from './checks.ts'
import { before, type Hit, isCounted, type Reading, type Recogniser } from './recogniser.ts'

const candidate =
  /(?<![\p{L}\p{N}_.+#&?*-]|[=<>!]=|\d[/:])(?:\+ ?)?\(?\d[\d \u00a0()./-]{5,22}\d(?![\p{L}\p{N}_]|[.,:]\d)/gu

const hint = /\d[\d \u00a0()./-]{5}/

/** North American numbers with separators, including unassigned ones such as 555. */
const northAmerican = /^(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[ .-])[2-9]\d\d[ .-]\d{4}$/

/** Words for a telephone and for calling one; a word may go on, as in `Telefonnummer`. */
const telephones = [
  '(?:tele|smart|cell)?phone',
  "(?:my|his|her|our|their) number(?:'s)?",
  'telef[oó]n\\p{L}*|téléphon\\p{L}*|telefoon\\p{L}*|tel|tél|tlf|puh|puhelin\\p{L}*|fax|sms|gsm|natel|whatsapp|signal|viber',
  'mobile?|mobil\\p{L}*|mobiel\\p{L}*|cell|cellulare|celular|handy\\p{L}*|portable|móvil|telemóvel|komórk\\p{L}*|cep',
  'call|ring|dial|contact|reach|anruf\\p{L}*|rufnummer|appel\\p{L}*|llam\\p{L}+|llám\\p{L}+|ligue|chiam\\p{L}+|bel me|zadzwoń',
  '(?:mon|son|votre|ton|notre) numéro|mi número|meu número|(?:il )?mio numero|mijn nummer|mein\\p{L}* nummer|mój numer|mitt nummer',
  'тел|телефон\\p{L}*|моб|мобильн\\p{L}*|мой номер|мій номер|τηλ|τηλέφωνο|κινητό',
  'هاتف|الهاتف|جوال|الجوال|موبايل|تلفون|טלפון|נייד|फ़ोन|फोन|मोबाइल|điện thoại|sđt|di động',
]

/** The same words in scripts that put no blanks around them. */
const unspaced = '电话|電話|手机|手機|联系方式|携帯|전화|휴대폰|핸드폰|연락처|โทร'

/** Words between the one for a telephone and its number. */
const between =
  'me|us|him|her|them|mob|casa|fixe|fijo|fisso|is|at|on|number|no|nr|nummer|numer|unter|ist|lautet|est|le|au|es|al|é|è|er|to|номер|за|number is|رقم'

const label = new RegExp(
  `(?:(?<!\\p{L})(?:${telephones.join('|')})(?:[\\s.-]{1,2}(?:${between}))*|(?:${unspaced})[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Hangul}\\p{Script=Thai}]{0,6})[^\\p{L}\\p{N}\\n]{0,6}$`,
  'iu',
)

const dateShape = /^(?:(?:19|20)\d\d[ ./-]\d{1,2}[ ./-]\d{1,2}|\d{1,2}[ ./-]\d{1,2}[ ./-](?:19|20)\d\d)(?:\D|$)/

/** A postcode of Brazil, whose name (`CEP`) is a word for a mobile phone elsewhere. */
const postcode = /^\d{5}-\d{3}$/

/** Eight digits that are a day or a round amount. */
const plainEight = /^(?:(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d|\d{4}0{4})$/

/** Phone numbers: with a country code, in the region's national format, or after a word such as "phone". */
export const phoneNumbers: Recogniser = {
  types: ['phone'],
  mayFind: (text) => hint.test(text),
  find: (reading) => {
    const hits: Hit[] = []
    candidate.lastIndex = 0
    for (let found = candidate.exec(reading.text); found !== null; found = candidate.exec(reading.text)) {
      const { 0: match, index: start } = found
      const number = numberIn(match, start, reading)
      if (number !== null) hits.push({ start, end: start + number.length, type: 'phone' })
    }
    return hits
  },
}

/**
 * Returns the candidate, or the longest beginning of it that is a number: `030 1234567 (2024)` is a number followed by
 * a year.
 */
const numberIn = (match: string, start: number, reading: Reading): string | null => {
  for (let text = match, tries = 0; tries < 3; tries += 1) {
    const digits = digitsIn(text)
    if (digits < 7) return null
    if (digits <= 17 && isNumber(text, start, reading)) return text
    const shorter = /^(.*\d)[ \u00a0()./-]+\d+$/.exec(text)?.[1]
    if (shorter === undefined) return null
    text = shorter
  }
  return null
}

const digitsIn = (text: string): number => {
  let digits = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) digits += 1
  }
  return digits
}

const isNumber = (text: string, start: number, reading: Reading): boolean => {
  const digits = digitsIn(text)
  const labelled = label.test(before(reading.words, start))
  if (text.startsWith('+'))
    return digits >= 8 && ((labelled && /^\+\d{8,15}$/.test(text)) || isPlanned(text, reading, 'possible'))
  if (dateShape.test(text) || postcode.test(text)) return false
  if (labelled) return (digits >= 8 && !plainEight.test(text)) || /[ ()./-]/.test(text)
  // checking the preceding words is the most expensive test, so the shape is checked first
  if (northAmerican.test(text))
    return (reading.region === 'US' || reading.region === 'CA') && !isCounted(reading.words, start)
  const isForeign = /^00[1-9]/.test(text)
  const isShaped = isForeign ? digits >= 10 : /^\(?0/.test(text) && /[ ()/-]/.test(text) && digits >= 9
  if (!isShaped || isCounted(reading.words, start)) return false
  return isPlanned(isForeign ? `+${text.slice(2)}` : text, reading, 'valid')
}

/** Checks the numbering plan. Once the budget of checks is used up, the shape alone decides. */
const isPlanned = (text: string, { region, budget }: Reading, how: 'valid' | 'possible'): boolean => {
  if (budget.checks <= 0) return true
  budget.checks -= 1
  const number = phoneOf(text, region)
  if (number === null) return false
  return how === 'valid' ? number.isValid() : number.isPossible()
}
