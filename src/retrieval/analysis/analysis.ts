import { type Language, latinLanguageOf, stopBit } from './languages.ts'
import { isAscii, tokensOf } from './tokens.ts'
import type { Word } from './word.ts'

/** Characters of a text that are looked at: more would hold the event loop. */
export const mostCharacters = 32_768

/** What an index keeps of a text. */
export interface Analysis {
  /** How often each term occurs. */
  readonly counts: ReadonlyMap<string, number>
  readonly length: number
  /** Language of its Latin words; null when they do not say. */
  readonly language: Language | null
  /** False where none of its words is one that says something of other statements or requests (`marking`). */
  readonly isMarked: boolean
}

/** A word of a question: each of its stems, since the language of a short question is a guess. */
export interface Concept {
  readonly word: string
  readonly terms: readonly string[]
  /** Whether it is written as a name: with a capital, and not only because a sentence begins. */
  readonly isName: boolean
}

/** For texts that are taken for English where they do not say. */
export const english = (): Language => 'en'

/** The terms of a passage; its Latin words in the language that they show, else in the one of `others`. */
export function analysisOf(text: string, others: () => Language): Analysis {
  const begins = text.slice(0, mostCharacters)
  const isPlain = isAscii(begins)
  const tokens = tokensOf(begins, isPlain)
  const language = latinLanguageOf(tokens)
  const latin = language ?? others()
  // letters beyond ASCII end a word for patterns and not for tokens
  const isMarked = !isPlain || text.length > mostCharacters || tokens.some(({ isMark }) => isMark)
  const counts = new Map<string, number>()
  let length = 0
  for (const token of contentOf(tokens, latin)) {
    const term = token.termIn(latin)
    counts.set(term, (counts.get(term) ?? 0) + 1)
    length++
  }
  return { counts, length, language, isMarked }
}

/** The words of a question, each once, with their stems in its own language and in those of the index. */
export function conceptsOf(text: string, languages: readonly Language[]): readonly Concept[] {
  const tokens = tokensOf(text.slice(0, mostCharacters))
  const own = latinLanguageOf(tokens)
  const spoken = [...new Set([...(own === null ? [] : [own]), ...languages])]
  const names = own === 'de' ? new Set() : namesIn(text.slice(0, mostCharacters))
  const concepts = new Map<string, Concept>()
  for (const token of contentOf(tokens, own ?? languages[0] ?? 'en')) {
    const terms = [...new Set([...spoken.map((language) => token.termIn(language)), ...yearOf(token.text)])]
    const key = terms.join(' ')
    if (!concepts.has(key)) concepts.set(key, { word: token.text, terms, isName: names.has(token.text) })
  }
  return [...concepts.values()]
}

/** "FY2018" in a question stands for what a text may call the fiscal year 2018. */
const yearOf = (word: string): readonly string[] => /^[a-z]{1,3}((?:19|20)\d\d)$/.exec(word)?.slice(1) ?? []

const calendar = new Set(
  'january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday'.split(
    ' ',
  ),
)

/**
 * Words with a capital that are not the first of the text, in lower case. German writes every noun so, and a title every
 * word: then a capital says nothing.
 */
function namesIn(text: string): ReadonlySet<string> {
  const written = [...text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)].slice(1).map(([word]) => word)
  const names = written.filter((word) => /^\p{Lu}\p{Ll}/u.test(word)).map((word) => word.toLowerCase())
  return new Set(names.length * 2 > written.length ? [] : names.filter((name) => !calendar.has(name)))
}

/** Without stop words, unless nothing else is there. */
function contentOf(tokens: readonly Word[], language: Language): readonly Word[] {
  const content = tokens.filter((token) => (token.stops & stopBit[token.languageIn(language) ?? 'en']) === 0)
  return content.length > 0 ? content : tokens
}
