import { type Language, latinLanguageOf, stopBit } from './languages.ts'
import { isAscii, tokensOf } from './tokens.ts'
import type { Word } from './word.ts'

/** Maximum characters of a text that are analysed; more would block the event loop. */
export const maxCharacters = 32_768

/** Maximum number of different words of a question that are looked up: more than 20,000 characters have, except in Chinese. */
const maxWords = 5_000

/** The analysis of a text that an index stores. */
export interface Analysis {
  /** Frequency of each term. */
  readonly counts: ReadonlyMap<string, number>
  readonly length: number
  /** Detected language of its words in Latin script; null when inconclusive. */
  readonly language: Language | null
  /** Whether it may contain one of the `marking` words, which can amend other statements or concern requests. */
  readonly isMarked: boolean
}

/** A word of a question, with all its possible stems, since the language of a short question is a guess. */
export interface Concept {
  readonly word: string
  readonly terms: readonly string[]
  /** How often the question has it. */
  readonly times: number
  /** Whether it is written as a name: capitalised, and not only because a sentence begins. */
  readonly isName: boolean
}

/** Fallback for texts whose language cannot be detected: English. */
export const english = (): Language => 'en'

/** Analyses a passage. Words in Latin script are stemmed in their detected language, or else in that of `others`. */
export function analysisOf(text: string, others: () => Language): Analysis {
  const begins = text.slice(0, maxCharacters)
  const isPlain = isAscii(begins)
  const tokens = tokensOf(begins, isPlain)
  const language = latinLanguageOf(tokens)
  const latin = language ?? others()
  // the patterns treat a non-ASCII letter as the end of a word and the tokeniser does not, so such texts count as
  // marked
  const isMarked = !isPlain || text.length > maxCharacters || tokens.some(({ isMark }) => isMark)
  const counts = new Map<string, number>()
  let length = 0
  for (const token of contentOf(tokens, latin)) {
    const term = token.termIn(latin)
    counts.set(term, (counts.get(term) ?? 0) + 1)
    length++
  }
  return { counts, length, language, isMarked }
}

/**
 * Returns the words of a question, each once, with their stems in its own language and in those of the index.
 */
export function conceptsOf(text: string, languages: readonly Language[]): readonly Concept[] {
  const tokens = tokensOf(text.slice(0, maxCharacters))
  const own = latinLanguageOf(tokens)
  const spoken = [...new Set([...(own === null ? [] : [own]), ...languages])]
  const names = own === 'de' ? new Set() : namesIn(text.slice(0, maxCharacters))
  const repeats = new Map<Word, number>()
  for (const token of contentOf(tokens, own ?? languages[0] ?? 'en')) repeats.set(token, (repeats.get(token) ?? 0) + 1)
  const concepts = new Map<string, Concept>()
  for (const [token, repeated] of repeats) {
    if (concepts.size === maxWords) break
    const terms = [...new Set([...spoken.map((language) => token.termIn(language)), ...yearOf(token.text)])]
    const key = terms.join(' ')
    const { word, isName, times } = concepts.get(key) ?? { word: token.text, isName: names.has(token.text), times: 0 }
    concepts.set(key, { word, terms, isName, times: times + repeated })
  }
  return [...concepts.values()]
}

/**
 * Returns the stems of a text's words in their order, without stop words and `others`.
 *
 * @param others words in lower case.
 */
export function contentTermsOf(text: string, others: ReadonlySet<string>): readonly string[] {
  const tokens = tokensOf(text.slice(0, maxCharacters))
  const language = latinLanguageOf(tokens) ?? english()
  return contentOf(tokens, language).flatMap((token) => (others.has(token.text) ? [] : [token.termIn(language)]))
}

/** Returns the year in "FY2018", which a text may write as fiscal year 2018. */
const yearOf = (word: string): readonly string[] => /^[a-z]{1,3}((?:19|20)\d\d)$/.exec(word)?.slice(1) ?? []

const calendar = new Set(
  'january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday'.split(
    ' ',
  ),
)

/**
 * Returns the capitalised words of a text except the first, in lower case. None when most words are capitalised, as in
 * titles. Callers skip German, which capitalises every noun.
 */
function namesIn(text: string): ReadonlySet<string> {
  const written = [...text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)].slice(1).map(([word]) => word)
  const names = written.filter((word) => /^\p{Lu}\p{Ll}/u.test(word)).map((word) => word.toLowerCase())
  return new Set(names.length * 2 > written.length ? [] : names.filter((name) => !calendar.has(name)))
}

/** Removes stop words, unless there are no other words. */
function contentOf(tokens: readonly Word[], language: Language): readonly Word[] {
  const content = tokens.filter((token) => (token.stops & stopBit[token.languageIn(language) ?? 'en']) === 0)
  return content.length > 0 ? content : tokens
}
