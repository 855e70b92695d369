const vowels = 'aeiou'

/**
 * Returns the stem of a lower-case English word by Porter's algorithm (1980), so that "relational" and "relate" match.
 * Words of one or two letters are unchanged.
 */
export function porterStem(word: string): string {
  if (word.length < 3) return word
  const steps = [plurals, pastForms, finalY, longSuffixes, middleSuffixes, shortSuffixes, finalE]
  return steps.reduce((stem, step) => step(stem), word)
}

function isConsonant(word: string, at: number): boolean {
  const letter = word[at] ?? ''
  if (vowels.includes(letter)) return false
  return letter !== 'y' || at === 0 || !isConsonant(word, at - 1)
}

/** Returns the number of vowel-consonant sequences, roughly the number of syllables. */
function measure(stem: string): number {
  let count = 0
  let wasVowel = false
  for (let at = 0; at < stem.length; at++) {
    const consonant = isConsonantAfter(stem, at, wasVowel)
    if (consonant && wasVowel) count++
    wasVowel = !consonant
  }
  return count
}

/** Like `isConsonant`, but with the type of the previous letter given, so that a run of many "y" takes linear time. */
function isConsonantAfter(word: string, at: number, wasVowel: boolean): boolean {
  const letter = word[at] ?? ''
  if (vowels.includes(letter)) return false
  return letter !== 'y' || at === 0 || wasVowel
}

const hasVowel = (stem: string): boolean => measure(`${stem}b`) > 0

const endsDouble = (stem: string): boolean =>
  stem.length > 1 && stem.at(-1) === stem.at(-2) && isConsonant(stem, stem.length - 1)

function endsShort(stem: string): boolean {
  const last = stem.length - 1
  if (last < 2 || 'wxy'.includes(stem[last] ?? '')) return false
  return isConsonant(stem, last) && !isConsonant(stem, last - 1) && isConsonant(stem, last - 2)
}

function plurals(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2)
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

function pastForms(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word
  const suffix = ['ed', 'ing'].find((each) => word.endsWith(each) && hasVowel(word.slice(0, -each.length)))
  if (suffix === undefined) return word
  const stem = word.slice(0, -suffix.length)
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`
  if (endsDouble(stem) && !/[lsz]$/.test(stem)) return stem.slice(0, -1)
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem
}

const finalY = (word: string): string =>
  word.endsWith('y') && hasVowel(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word

/** Replaces the longest matching suffix if the measure of the rest exceeds `min`. */
function replaced(word: string, suffixes: readonly (readonly [string, string])[], min: number): string {
  const found = suffixes.find(([suffix]) => word.endsWith(suffix))
  if (found === undefined) return word
  const stem = word.slice(0, word.length - found[0].length)
  return measure(stem) > min ? stem + found[1] : word
}

const pairs = (text: string): readonly (readonly [string, string])[] =>
  text
    .split(' ')
    .map((pair) => pair.split(':'))
    .map(([suffix = '', replacement = '']) => [suffix, replacement] as const)
    .toSorted(([a], [b]) => b.length - a.length)

const long = pairs(
  'ational:ate tional:tion enci:ence anci:ance izer:ize abli:able alli:al entli:ent eli:e ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble logi:log',
)
const middle = pairs('icate:ic ative: alize:al iciti:ic ical:ic ful: ness:')
const short = pairs('al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ou: ism: ate: iti: ous: ive: ize:')

const longSuffixes = (word: string): string => replaced(word, long, 0)
const middleSuffixes = (word: string): string => replaced(word, middle, 0)

function shortSuffixes(word: string): string {
  if (/[st]ion$/.test(word)) return measure(word.slice(0, -3)) > 1 ? word.slice(0, -3) : word
  return replaced(word, short, 1)
}

function finalE(word: string): string {
  const stem = word.endsWith('e') ? word.slice(0, -1) : word
  const cut = stem === word || measure(stem) > 1 || (measure(stem) === 1 && !endsShort(stem)) ? stem : word
  return cut.endsWith('ll') && measure(cut) > 1 ? cut.slice(0, -1) : cut
}
