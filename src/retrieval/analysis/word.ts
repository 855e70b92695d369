import { type Language, stopMask } from './languages.ts'
import { stemOf } from './light-stems.ts'
import { marking } from './marking.ts'

/** Scripts that are handled separately: those without spaces, and those of a single supported language. */
export type Script = 'latin' | 'cyrillic' | 'arabic' | 'devanagari' | 'other'

const scriptLanguages: Readonly<Partial<Record<Script, Language>>> = { cyrillic: 'ru', arabic: 'ar', devanagari: 'hi' }

/** A lower-case word, or a pair of characters of a script without spaces. */
export class Word {
  readonly text: string
  readonly script: Script
  /** Mask of the languages in which it is a stop word (`stopBit`). */
  readonly stops: number
  /** Whether it is a `marking` word: its text may amend another one or concern requests. */
  readonly isMark: boolean
  #language: Language | null = null
  #term = ''

  constructor(text: string, script: Script, stops: number) {
    this.text = text
    this.script = script
    this.stops = stops
    this.isMark = marking.has(text)
  }

  /** Returns the language of its script; the given one for Latin script, null for unsupported scripts. */
  languageIn(latin: Language): Language | null {
    return this.script === 'latin' ? latin : (scriptLanguages[this.script] ?? null)
  }

  /** Returns the stem without diacritics, so that "café" and "cafe" match. */
  termIn(latin: Language): string {
    const language = this.languageIn(latin)
    if (language === null) return this.text
    if (this.#language === language) return this.#term
    this.#language = language
    this.#term = plain(stemOf(this.text, language), language)
    return this.#term
  }
}

const nine = 0x39
const maxWords = 50_000
const latins = new Map<string, Word>()
const others = new Map<string, Word>()

/** Returns the word for a lower-case text. Words are cached, since most of them recur. */
export function wordOf(text: string, script: Script): Word {
  // numbers rarely recur and need no analysis
  if (text.charCodeAt(0) <= nine) return new Word(copied(text), script, 0)
  const known = script === 'latin' ? latins : others
  const word = known.get(text)
  if (word !== undefined) return word
  if (known.size >= maxWords) known.clear()
  const own = copied(text)
  const made = new Word(own, script, stopMask(own))
  known.set(own, made)
  return made
}

/** V8 represents a longer substring as a reference to its whole text: a cached word would retain megabytes. */
const longestCopied = 12
const copied = (text: string): string =>
  text.length <= longestCopied ? text : Buffer.from(text, 'utf16le').toString('utf16le')

function plain(stem: string, language: Language): string {
  if (language === 'hi' || /^[a-z0-9]*$/.test(stem)) return stem
  return stem.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ı', 'i').replaceAll('ß', 'ss').normalize('NFC')
}
