import { type Act, acts } from './acts.ts'
import { type Thing, things } from './things.ts'

/** What a sentence may be about. */
export type Concept = Act | Thing

type Span = readonly [from: number, to: number]

const max = 8
const patterns: Readonly<Record<Concept, RegExp>> = { ...acts, ...things }

const address = /https?:\/\/[^\s)>"'`\]}，。、]{3,500}/u
const addresses = /https?:\/\/[^\s)>"'`\]}，。、]{3,2000}/gu
const mail = /\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,40}){1,4}\b/u
const host =
  /\b(?:[a-z0-9-]{1,60}\.){1,4}(?:com|net|org|io|dev|app|xyz|site|top|ru|cn|tk|sh|me|co|info|example|cloud|online|store|live|pw|cc|link|click)\b(?:[/:][^\s)`"']{0,300})?/u

/** A sentence, with what is found in it; each concept is looked for once. */
export class Reading {
  readonly text: string
  readonly #found = new Map<Concept, readonly Span[]>()

  /** The sentence without its addresses, which name things that it does not speak of. */
  readonly #words: string

  constructor(text: string) {
    this.text = text
    this.#words = text.replaceAll(addresses, (found) => ' '.repeat(found.length))
  }

  /** Whether the sentence is about all of these. */
  has(...concepts: readonly Concept[]): boolean {
    return concepts.every((concept) => this.spans(concept).length > 0)
  }

  /** Whether it is about one of these. */
  hasAny(...concepts: readonly Concept[]): boolean {
    return concepts.some((concept) => this.has(concept))
  }

  /** Whether two concepts stand close to each other. */
  near(one: Concept, other: Concept, within: number): boolean {
    const others = this.spans(other)
    return this.spans(one).some(([from, to]) =>
      others.some(([start, end]) => start - to <= within && from - end <= within),
    )
  }

  /** Whether a concept stands after another one, close to it. */
  after(one: Concept, other: Concept, within: number): boolean {
    const others = this.spans(other)
    return this.spans(one).some(([, to]) => others.some(([start]) => start >= to && start - to <= within))
  }

  /** Whether a concept is negated just before it, in languages that say so before. */
  negated(concept: Concept): boolean {
    const nots = this.spans('not')
    const own = this.spans(concept)
    return own.length > 0 && own.every(([from]) => nots.some(([start, end]) => start < from && from - end <= 24))
  }

  /** An address of the web, of mail, or a host, that the sentence names. */
  destination(): string | undefined {
    return (address.exec(this.text) ?? mail.exec(this.text) ?? host.exec(this.text))?.[0]
  }

  spans(concept: Concept): readonly Span[] {
    const known = this.#found.get(concept)
    if (known !== undefined) return known
    const spans = spansOf(concept, this.#words)
    this.#found.set(concept, spans)
    return spans
  }
}

const spansOf = (concept: Concept, text: string): readonly Span[] => {
  const spans: Span[] = []
  for (const { 0: found, index } of text.matchAll(patterns[concept])) {
    if (spans.push([index, index + found.length]) >= max) break
  }
  return spans
}
