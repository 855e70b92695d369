import { type Script, type Word, wordOf } from './word.ts'

const asciiWord = /[a-z0-9]+/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: every character that NFKC leaves as it is
const ascii = /^[\x00-\x7f]*$/
const written = /[\p{L}\p{M}\p{N}]+/gu
const paired = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu
const han = /\p{Script=Han}/u
/** Chinese function words, which are not indexed as single characters, in simplified and traditional form. */
const particles = new Set('的了是在和与與及或之其这這那哪什么麼谁誰吗嗎呢有为為以于於从從被把对對由而也都就')
const unspaced = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const beyondLatin = /[\u0370-\u{10ffff}]/u

/** Optional marks of Arabic script, and letters that are used interchangeably. */
const arabicMarks = /[\u064b-\u065f\u0670\u0640]/g
const arabicAlike: Readonly<Record<string, string>> = { أ: 'ا', إ: 'ا', آ: 'ا', ٱ: 'ا', ى: 'ي', ة: 'ه', ؤ: 'و', ئ: 'ي' }

/** Whether a text is pure ASCII. */
export const isAscii = (text: string): boolean => ascii.test(text)

/**
 * Splits a text of any script into words. Chinese, Japanese and Korean become pairs of adjacent characters; Chinese
 * characters are also indexed singly, since many are words (Nie, Gao, Zhang and Zhou, 2000). Thai and related scripts
 * are segmented by the platform's dictionary.
 */
export function tokensOf(text: string, isPlain: boolean = isAscii(text)): readonly Word[] {
  if (isPlain) return (text.toLowerCase().match(asciiWord) ?? []).map(latinWord)
  const tokens: Word[] = []
  const plain = text.toWellFormed().normalize('NFKC').toLowerCase()
  const isLatin = !beyondLatin.test(plain)
  for (const found of plain.match(written) ?? []) {
    if (isLatin || !beyondLatin.test(found)) tokens.push(latinWord(found))
    else pushForeign(found, tokens)
  }
  return tokens
}

const latinWord = (text: string): Word => wordOf(text, 'latin')

function pushForeign(found: string, tokens: Word[]): void {
  if (unspaced.test(found)) {
    for (const segment of thaiWords().segment(found)) if (segment.isWordLike) push(segment.segment, tokens)
    return
  }
  let end = 0
  for (const run of found.matchAll(paired)) {
    push(found.slice(end, run.index), tokens)
    pushPairs([...run[0]], tokens)
    end = run.index + run[0].length
  }
  push(found.slice(end), tokens)
}

function pushPairs(characters: readonly string[], tokens: Word[]): void {
  if (characters.length === 1) push(characters[0] ?? '', tokens)
  for (let at = 1; at < characters.length; at++) {
    tokens.push(wordOf(`${characters[at - 1]}${characters[at]}`, 'other'))
  }
  if (characters.length > 1) pushCharacters(characters, tokens)
}

function pushCharacters(characters: readonly string[], tokens: Word[]): void {
  for (const each of characters) if (han.test(each) && !particles.has(each)) tokens.push(wordOf(each, 'other'))
}

function push(text: string, tokens: Word[]): void {
  if (text === '') return
  const script = scriptOf(text)
  tokens.push(wordOf(script === 'arabic' ? plainArabic(text) : text, script))
}

function scriptOf(text: string): Script {
  if (/\p{Script=Latin}/u.test(text)) return 'latin'
  if (/\p{Script=Cyrillic}/u.test(text)) return 'cyrillic'
  if (/\p{Script=Arabic}/u.test(text)) return 'arabic'
  return /\p{Script=Devanagari}/u.test(text) ? 'devanagari' : 'other'
}

const plainArabic = (text: string): string =>
  text.replace(arabicMarks, '').replace(/[أإآٱىةؤئ]/g, (letter) => arabicAlike[letter] ?? letter)

let segmenter: Intl.Segmenter | undefined
/** Created on first use, since its dictionary takes some megabytes. */
const thaiWords = (): Intl.Segmenter => {
  segmenter ??= new Intl.Segmenter('th', { granularity: 'word' })
  return segmenter
}
