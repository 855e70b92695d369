import { doubtfulNames, givenNames } from './given-names.ts'
import { before, type Hit, type Reading, type Recogniser } from './recogniser.ts'

/** Up to five consecutive capitalised words, with particles between them. */
const capitalised =
  /(?<![\p{L}\p{N}_@/.-])\p{Lu}[\p{L}'’-]{1,24}(?: (?:(?:de|del|della|di|da|la|van|von|der|den|bin|al) ){0,2}\p{Lu}[\p{L}'’-]{1,24}){0,4}(?![\p{L}\p{N}_@])/gu

const titles: ReadonlySet<string> = new Set(
  'Mr Mrs Ms Miss Mx Dr Prof Professor Sir Madam Herr Frau Monsieur Madame Mme Señor Señora Signor Signora'.split(' '),
)

/** An abbreviated title right before the words. */
const titled = /(?<!\p{L})(?:mr|mrs|ms|mx|dr|prof|sr|sra|hr|fr|mme)\. $/iu

/** Phrases that are always followed by a name. */
const introduced =
  /(?:(?<!\p{L})(?:(?:my|his|her|their|full|first|last) name(?: is|'s|:)|name:|mein name ist|ich hei(?:ß|ss)e|je m[’']appelle|me llamo|mi chiamo) |"(?:full_|first_|last_|customer_|patient_)?name"\s{0,2}:\s{0,2}")$/iu

/** Words that are often followed by a name. */
const addressed =
  /(?<!\p{L})(?:i am|i'm|this is|named|called|dear|hi|hello|hey|regards|thanks|thank you|cheers|sincerely|love|yours|contact|patient|customer|client|employee|colleague|from|with|by|liebe|lieber|hallo|grüße|cher|chère|bonjour|querida|querido|hola|ciao|caro|cara)[ ,:\n]{1,3}$/iu

/**
 * Names of people, recognised by a dictionary of given names and by the words before them. Accuracy is low: uncommon
 * names without context are missed, and some other words are matched. A policy has to enable this type explicitly.
 */
export const names: Recogniser = {
  types: ['name'],
  mayFind: (text) => /\p{Lu}\p{L}/u.test(text),
  find: (reading) => {
    const hits: Hit[] = []
    capitalised.lastIndex = 0
    for (let found = capitalised.exec(reading.text); found !== null; found = capitalised.exec(reading.text)) {
      const hit = nameIn(found[0], found.index, reading)
      if (hit !== null) hits.push(hit)
    }
    return hits
  },
}

const nameIn = (words: string, start: number, { text }: Reading): Hit | null => {
  const preceding = before(text, start)
  const [first = '', ...others] = words.split(' ')
  if (introduced.test(preceding) || titled.test(preceding)) return hit(start, words)
  if (titles.has(first)) return others.length === 0 ? null : hit(start + first.length + 1, others.join(' '))
  const at = [first, ...others].findIndex((word) => givenNames.has(word))
  const from = at <= 0 ? words : others.slice(at - 1).join(' ')
  const begins = start + words.length - from.length
  if (at >= 0 && (from.includes(' ') || addressed.test(before(text, begins)))) return hit(begins, from)
  return doubtfulNames.has(first) && addressed.test(preceding) ? hit(start, words) : null
}

const hit = (start: number, name: string): Hit => ({ start, end: start + name.length, type: 'name' })
