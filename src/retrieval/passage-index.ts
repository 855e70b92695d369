import { analysisOf, conceptsOf } from './analysis/analysis.ts'
import type { Language } from './analysis/languages.ts'
import type { Passage } from './passage.ts'
import type { PassageHits, PassageQuery } from './passage-query.ts'
import { PassageTable } from './passage-table.ts'
import { Postings } from './postings.ts'
import { Search } from './ranking/search.ts'
import { type Profile, type Weights, weightsOf } from './ranking/weights.ts'
import { withRoom } from './search-room.ts'
import { VectorTable } from './vector-table.ts'

export type { LeftOut, PassageHit, PassageHits, PassageQuery } from './passage-query.ts'
export type { Profile } from './ranking/weights.ts'

/** A language counts for questions when at least this share of the passages shows it. */
const leastShare = 0.05
const bytesOfNone = 4_096

/**
 * The passages of one scope, found by words and vectors; in memory only, and exact. It does not keep the texts: a
 * passage costs its vector, one byte a dimension, and about 13 bytes a distinct word.
 */
export class PassageIndex {
  readonly #weights: Weights
  readonly #table = new PassageTable()
  readonly #vectors = new VectorTable()
  readonly #languages = new Map<Language, number>()
  /** Language that each passage shows, by slot: what is removed takes its own along. */
  readonly #shown: (Language | null)[] = []
  readonly #others = (): Language => this.#spoken()[0] ?? 'en'
  #postings = new Postings()

  constructor(profile: Profile, weights: Weights = weightsOf[profile]) {
    this.#weights = weights
  }

  get size(): number {
    return this.#table.size
  }

  /** Estimate of its memory. */
  get bytes(): number {
    return bytesOfNone + this.#table.bytes + this.#postings.bytes + this.#vectors.bytes
  }

  has(id: string): boolean {
    return this.#table.slotOf(id) !== -1
  }

  /** Adds a passage, in place of the one with its id. */
  add(passage: Passage): void {
    this.remove(passage.id)
    const analysis = analysisOf(wordsOf(passage), this.#others)
    const { counts, language } = analysis
    this.#count(language, 1)
    const slot = this.#table.add(passage, analysis)
    this.#shown[slot] = language
    this.#table.setRange(slot, this.#postings.add(slot, counts))
    this.#vectors.set(slot, passage.vector)
  }

  remove(id: string): void {
    const slot = this.#table.slotOf(id)
    if (slot === -1) return
    this.#count(this.#shown[slot] ?? null, -1)
    this.#postings.remove(this.#table.rangeOf(slot))
    this.#vectors.delete(slot)
    this.#table.remove(slot)
    if (!this.#postings.wasteful) return
    this.#postings = this.#postings.compacted(this.#table.ranges(), (kept, range) => this.#table.setRange(kept, range))
  }

  /** Says what a group is called: a question that has words of it is more likely about that group. */
  nameGroup(group: string, title: string): void {
    this.#table.groups.name(group, title)
  }

  /** What a question is about in the document that its words name, for `PassageQuery.topic`; null when they name none. */
  topicOf(text: string): string | null {
    if (this.#weights.topic === 0) return null
    return this.#table.groups.titles.topicOf(text, conceptsOf(text, this.#spoken()))
  }

  /** Finds passages by a question, best first; it gives way to other work every few milliseconds. */
  search(query: PassageQuery): Promise<PassageHits> {
    const concepts = conceptsOf(query.text, this.#spoken())
    const [table, vectors, postings, weights] = [this.#table, this.#vectors, this.#postings, this.#weights]
    return withRoom((room) => new Search({ table, vectors, postings, weights }, query, room).run(concepts))
  }

  #count(language: Language | null, by: number): void {
    if (language === null) return
    const count = (this.#languages.get(language) ?? 0) + by
    if (count > 0) this.#languages.set(language, count)
    else this.#languages.delete(language)
  }

  /** Languages of its Latin texts, most frequent first. */
  #spoken(): readonly Language[] {
    const most = [...this.#languages].toSorted(([, a], [, b]) => b - a)
    const total = most.reduce((sum, [, count]) => sum + count, 0)
    const spoken = most.filter(([, count]) => count >= total * leastShare).map(([language]) => language)
    return spoken.length > 0 ? spoken : ['en']
  }
}

/** All that a passage is found by. */
const wordsOf = ({ speaker, heading, text }: Passage): string => {
  if (!speaker && !heading) return text
  return [speaker, heading, text].filter(Boolean).join('\n')
}
