import { tokensOf } from './analysis/tokens.ts'

const none = -1

interface Speaker {
  readonly number: number
  readonly name: string
  readonly tokens: readonly string[]
  passages: number
}

/** Speakers of the passages of an index; a speaker without passages is removed. */
export class Speakers {
  readonly #byName = new Map<string, Speaker>()
  readonly #all: (Speaker | null)[] = []

  get size(): number {
    return this.#byName.size
  }

  /** Counts one more passage of a speaker and returns the speaker's number; -1 without a name. */
  add(name: string | null): number {
    const key = name?.trim().toLowerCase() ?? ''
    if (key === '') return none
    const speaker = this.#byName.get(key) ?? this.#create(key)
    speaker.passages++
    return speaker.number
  }

  remove(number: number): void {
    const speaker = this.#all[number] ?? null
    if (speaker === null || --speaker.passages > 0) return
    this.#byName.delete(speaker.name)
    this.#all[number] = null
  }

  /**
   * Returns the one speaker named in a question; -1 when it names none or more than one, or the index has fewer than
   * two.
   */
  namedIn(question: string): number {
    if (this.#byName.size < 2) return none
    const words = new Set(tokensOf(question).map(({ text }) => text))
    const named = [...this.#byName.values()].filter(({ tokens }) => words.has(tokens[0] ?? ''))
    return named.length === 1 ? (named[0]?.number ?? none) : none
  }

  #create(name: string): Speaker {
    const free = this.#all.indexOf(null)
    const number = free === none ? this.#all.length : free
    const tokens = tokensOf(name.slice(0, maxPerName)).map(({ text }) => text)
    const speaker = { number, name, tokens, passages: 0 }
    this.#all[number] = speaker
    this.#byName.set(name, speaker)
    return speaker
  }
}

const maxPerName = 200
