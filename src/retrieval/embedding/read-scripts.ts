import { isByteLevel, vocabularyOf } from './schema.ts'

/** Scripts of texts that models for one language do not read; each with its marks. */
const scripts: readonly RegExp[] = [
  ...[/\p{Script=Arabic}/gu, /\p{Script=Armenian}/gu, /\p{Script=Bengali}/gu, /\p{Script=Cyrillic}/gu],
  ...[/\p{Script=Devanagari}/gu, /\p{Script=Ethiopic}/gu, /\p{Script=Georgian}/gu, /\p{Script=Greek}/gu],
  ...[/\p{Script=Gujarati}/gu, /\p{Script=Gurmukhi}/gu, /\p{Script=Han}/gu, /\p{Script=Hangul}/gu],
  ...[/\p{Script=Hebrew}/gu, /\p{Script=Hiragana}/gu, /\p{Script=Kannada}/gu, /\p{Script=Katakana}/gu],
  ...[/\p{Script=Khmer}/gu, /\p{Script=Lao}/gu, /\p{Script=Latin}/gu, /\p{Script=Malayalam}/gu],
  ...[/\p{Script=Myanmar}/gu, /\p{Script=Sinhala}/gu, /\p{Script=Tamil}/gu, /\p{Script=Telugu}/gu],
  ...[/\p{Script=Thai}/gu, /\p{Script=Tibetan}/gu],
]

/**
 * A vocabulary reads a script if it has at least this many words or parts of words in it, or this many single
 * characters, as a model for Chinese has. The English BERT has 27,587 of Latin script, 8 of Cyrillic, and 494 single
 * Chinese characters.
 */
const minParts = 100
const minCharacters = 2_000
/** Share of the letters of a text in scripts that the model does not read, above which its vector means nothing. */
const maxUnread = 0.5
/** Beginning of a text that is looked at, in characters. */
const sampleLength = 2_000

/**
 * Returns whether a model can read a text, from the vocabulary of its tokenizer. A model of one language splits words in
 * another script into single characters, and gives them vectors that mislead a search.
 *
 * @param tokenizer the content of `tokenizer.json`.
 */
export function readsScripts(tokenizer: unknown): (text: string) => boolean {
  const vocabulary = isByteLevel(tokenizer) ? [] : vocabularyOf(tokenizer)
  // a vocabulary of bytes, or in a form of its own, does not say what it reads
  const unread = vocabulary.length === 0 ? [] : scripts.filter((script) => !isRead(vocabulary, script))
  return (text) => {
    const begins = text.slice(0, sampleLength)
    const letters = begins.match(/[\p{L}\p{M}]/gu)?.length ?? 0
    const foreign = unread.reduce((sum, script) => sum + (begins.match(script)?.length ?? 0), 0)
    return foreign <= letters * maxUnread
  }
}

function isRead(vocabulary: readonly string[], script: RegExp): boolean {
  let [parts, characters] = [0, 0]
  for (const entry of vocabulary) {
    const count = entry.match(script)?.length ?? 0
    if (count > 1) parts++
    else if (count === 1) characters++
    if (parts >= minParts || characters >= minCharacters) return true
  }
  return false
}
