import type { Question, Remembered, Sets } from './sets.ts'

/** Sizes of the scopes in which every question is put. */
export const sizes = [1, 5, 20, 100, 1_000, 10_000] as const

/** The memories among which one question is put; those of the larger sizes are shared by all questions. */
export interface QuestionScope {
  readonly size: number
  readonly memories: readonly Remembered[]
}

/**
 * Builds scopes: first a memory that answers the question, then the other memories of its person, then other people's
 * memories and distractors in turn. Beyond these, it joins the beginning of one distractor to the end of another.
 */
export class Scopes {
  readonly #sets: Sets
  readonly #fillers: readonly Remembered[]
  readonly #everyone: readonly Remembered[]

  constructor(sets: Sets, largest: number) {
    this.#sets = sets
    this.#everyone = sets.people.flatMap(({ memories }) => memories)
    this.#fillers = fillersOf(sets.distractors, largest)
  }

  of(question: Question, size: number): QuestionScope {
    if (size >= this.#everyone.length + this.#sets.distractors.length) return this.#shared(size)
    const own = this.#sets.people.find(({ user }) => user === question.user)?.memories ?? []
    const right = own.filter(({ id }) => question.answers.includes(id))
    const seed = hashOf(question.text)
    const rest = shuffled(
      own.filter((each) => !right.includes(each)),
      seed,
    )
    const others = shuffled(
      this.#everyone.filter((each) => !own.includes(each)),
      seed,
    )
    const between = shuffled(this.#fillers.slice(0, this.#sets.distractors.length), seed)
    const filled = others.flatMap((other, at) => [other, between[at]].filter((each) => each !== undefined))
    return { size, memories: [...right, ...rest, ...filled, ...between.slice(others.length)].slice(0, size) }
  }

  readonly #all = new Map<number, QuestionScope>()

  #shared(size: number): QuestionScope {
    const known = this.#all.get(size)
    if (known !== undefined) return known
    const scope = { size, memories: [...this.#everyone, ...this.#fillers].slice(0, size) }
    this.#all.set(size, scope)
    return scope
  }
}

function fillersOf(distractors: readonly string[], largest: number): readonly Remembered[] {
  const halves = distractors.map(halvesOf)
  const texts = new Set(distractors)
  for (let step = 1; texts.size < largest && step < distractors.length; step++) {
    for (const [at, [first]] of halves.entries()) {
      const [, second] = halves[(at + step) % halves.length] ?? ['', '']
      texts.add(`${first} ${second}`.trim())
      if (texts.size >= largest) break
    }
  }
  return [...texts].map((text, at) => ({ id: `filler ${at}`, text, at: Date.UTC(2026, 0, 1) + at * 60_000 }))
}

/** Splits a text after its first sentence or clause, or in the middle. */
function halvesOf(text: string): readonly [string, string] {
  const at = /[.!?,;:。！？、，]/u.exec(text.slice(12))?.index
  const split = at === undefined || at + 13 >= text.length ? Math.floor(text.length / 2) : at + 13
  return [text.slice(0, split).trim(), text.slice(split).trim()]
}

/** A fixed order that depends on the seed only, so that every run and every engine sees the same scopes. */
function shuffled<T>(all: readonly T[], seed: number): readonly T[] {
  const next = generator(seed)
  return all
    .map((each) => ({ each, key: next() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ each }) => each)
}

const hashOf = (text: string): number => {
  let hash = 2_166_136_261
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619)
  return hash >>> 0
}

/** Mulberry32. */
const generator = (seed: number) => {
  let state = seed
  return (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
