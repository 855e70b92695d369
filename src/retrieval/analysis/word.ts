import { type Language, stopMask } from './languages.ts'
import { stemOf } from './light-stems.ts'
import { marking } from './marking.ts'

/** Scripts that need ways of their own: without spaces, or with one language. */
export type Script = 'latin' | 'cyrillic' | 'arabic' | 'devanagari' | 'other'

const scriptLanguages: Readonly<Partial<Record<Script, Language>>> = { cyrillic: 'ru', arabic: 'ar', devanagari: 'hi' }

/** A word as it was written, in lower case, or a pair of characters of a script without spaces. */
export class Word {
  readonly text: string
  readonly script: Script
  /** Bits of the languages in which it says little (`stopBit`). */
  readonly stops: number
  /** Whether a text with it may amend another one, or say something of requests. */
  readonly isMark: boolean
  #language: Language | null = null
  #term = ''

  constructor(text: string, script: Script, stops: number) {
    this.text = text
    this.script = script
    this.stops = stops
    this.isMark = marking.has(text)
  }

  /** The language of its script; for Latin words the given one, for a script of none of ours null. */
  languageIn(latin: Language): Language | null {
    return this.script === 'latin' ? latin : (scriptLanguages[this.script] ?? null)
  }

  /** The stem without the marks on its letters, so that "café" and "cafe" meet. */
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
const mostWords = 50_000
const latins = new Map<string, Word>()
const others = new Map<string, Word>()

/** The word of a text in lower case. Most words come again: what is found of one is kept. */
export function wordOf(text: string, script: Script): Word {
  // numbers seldom come again, and say what they are
  if (text.charCodeAt(0) <= nine) return new Word(copied(text), script, 0)
  const known = script === 'latin' ? latins : others
  const word = known.get(text)
  if (word !== undefined) return word
  if (known.size >= mostWords) known.clear()
  const own = copied(text)
  const made = new Word(own, script, stopMask(own))
  known.set(own, made)
  return made
}

/** V8 cuts a longer string out of its text by keeping the whole text: a kept word would keep megabytes. */
const longestCopied = 12
const copied = (text: string): string =>
  text.length <= longestCopied ? text : Buffer.from(text, 'utf16le').toString('utf16le')

function plain(stem: string, language: Language): string {
  if (language === 'hi' || /^[a-z0-9]*$/.test(stem)) return stem
  return stem.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ı', 'i').replaceAll('ß', 'ss').normalize('NFC')
}
