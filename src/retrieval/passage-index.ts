import { analysisOf, conceptsOf } from './analysis/analysis.ts'
import type { Language } from './analysis/languages.ts'
import { PageLeads } from './page-leads.ts'
import type { Passage } from './passage.ts'
import type { PassageHits, PassageQuery } from './passage-query.ts'
import { PassageTable } from './passage-table.ts'
import { PostingBlock } from './posting-block.ts'
import { type PostingRange, Postings, rangeIn } from './postings.ts'
import { Search } from './ranking/search.ts'
import { type Profile, type Weights, weightsOf } from './ranking/weights.ts'
import { withBuffers } from './search-buffers.ts'
import type { SegmentTerms } from './segments/segment-terms.ts'
import { type ShortVector, VectorTable } from './vector-table.ts'

export type { PassageHits, PassageQuery } from './passage-query.ts'
export type { Profile } from './ranking/weights.ts'

/** A passage of a segment. */
export interface StoredPassage extends Pick<Passage, 'id' | 'group' | 'order' | 'at'> {
  /** Number of the passage in its segment. */
  readonly number: number
  readonly length: number
  readonly language: Language | null
  readonly vector: ShortVector | null
}

/** A segment whose passages are added. */
export interface PassageSource {
  readonly terms: SegmentTerms
  /** Number in the index of each of its terms, or -1. */
  readonly numbers: Int32Array
  /** Its postings, if they are read where they lie. */
  readonly block: { readonly postings: PostingBlock; readonly number: number } | null
}

const none = new Int32Array(0)
/** Minimum share of passages in a language for questions to be analysed in it. */
const minShare = 0.05
const bytesOfNone = 4_096

/**
 * In-memory index of the passages of one scope, searched by words and vectors. Searches are exact. Texts are not kept:
 * a passage takes its vector, at one byte per dimension, and about 13 bytes per distinct word.
 */
export class PassageIndex {
  readonly #weights: Weights
  readonly #table = new PassageTable()
  readonly #vectors = new VectorTable()
  readonly #leads = new PageLeads()
  readonly #languages = new Map<Language, number>()
  /** Detected language of each passage, by slot, to update the counts when it is removed. */
  readonly #shown: (Language | null)[] = []
  readonly #others = (): Language => this.#spoken()[0] ?? 'en'
  readonly #postings = new Postings()

  constructor(profile: Profile, weights: Weights = weightsOf[profile]) {
    this.#weights = weights
  }

  get size(): number {
    return this.#table.size
  }

  /** Estimated memory in bytes. */
  get bytes(): number {
    return bytesOfNone + this.#table.bytes + this.#postings.bytes + this.#vectors.bytes + this.#leads.bytes
  }

  has(id: string): boolean {
    return this.#table.slotOf(id) !== -1
  }

  /** Adds a passage, or replaces the one with its id. */
  add(passage: Passage): void {
    this.remove(passage.id)
    const analysis = analysisOf(wordsOf(passage), this.#others)
    const { counts, language } = analysis
    this.#count(language, 1)
    const slot = this.#table.add(passage, analysis)
    this.#shown[slot] = language
    this.#table.setRange(slot, this.#postings.add(slot, counts))
    this.#vectors.set(slot, passage.vector)
    this.#leads.add(slot, passage)
  }

  /** Begins to add passages of a segment: each of them is to be added or skipped. */
  source(terms: SegmentTerms, passages: number): PassageSource {
    if (!terms.isInverted) return { terms, numbers: new Int32Array(terms.names.length).fill(-1), block: null }
    const block = new PostingBlock(terms, passages)
    return { terms, numbers: none, block: { postings: block, number: this.#postings.attach(block) } }
  }

  /**
   * Adds a passage of a segment, which was analysed when the segment was made. It is found, but not by its id.
   *
   * @returns its slot, to remove it.
   */
  addStored({ number, language, length, vector, ...passage }: StoredPassage, source: PassageSource): number {
    this.#count(language, 1)
    const slot = this.#table.addUnnamed({ ...passage, text: '', vector: null }, { length, isMarked: false })
    this.#shown[slot] = language
    this.#table.setRange(slot, this.#rangeOf(slot, number, source))
    this.#vectors.set(slot, vector)
    return slot
  }

  #rangeOf(slot: number, list: number, { terms: { lists }, numbers, block }: PassageSource): PostingRange {
    if (block === null) return this.#postings.addList(slot, { lists, list, numbers })
    block.postings.set(list, slot)
    return rangeIn(block.number, list)
  }

  /** Leaves out a passage of a segment. */
  skipStored(number: number, { block }: PassageSource): void {
    block?.postings.remove(number)
  }

  remove(id: string): void {
    const slot = this.#table.slotOf(id)
    if (slot !== -1) this.removeSlot(slot)
  }

  removeSlot(slot: number): void {
    this.#count(this.#shown[slot] ?? null, -1)
    this.#postings.remove(this.#table.rangeOf(slot))
    this.#vectors.delete(slot)
    this.#leads.remove(slot)
    this.#table.remove(slot)
    if (!this.#postings.wasteful) return
    this.#postings.compact(this.#table.ranges(), (kept, range) => this.#table.setRange(kept, range))
  }

  /** Sets the title of a group: a question with words of the title is more likely to be about that group. */
  nameGroup(group: string, title: string): void {
    this.#table.groups.name(group, title)
  }

  /** Returns the question without the words that name a document, for `PassageQuery.topic`; null when it names none. */
  topicOf(text: string): string | null {
    if (this.#weights.topic === 0) return null
    return this.#table.groups.titles.topicOf(text, conceptsOf(text, this.#spoken()))
  }

  /** Finds passages for a question, best first. It yields the event loop every few milliseconds. */
  search(query: PassageQuery): Promise<PassageHits> {
    const concepts = conceptsOf(query.text, this.#spoken())
    const [table, postings, weights] = [this.#table, this.#postings, this.#weights]
    const [vectors, leads] = [this.#vectors, this.#leads]
    return withBuffers((buffers) =>
      new Search({ table, vectors, leads, postings, weights }, query, buffers).run(concepts),
    )
  }

  #count(language: Language | null, by: number): void {
    if (language === null) return
    const count = (this.#languages.get(language) ?? 0) + by
    if (count > 0) this.#languages.set(language, count)
    else this.#languages.delete(language)
  }

  /** Language of passages whose own cannot be recognised: that of most others. */
  get language(): Language {
    return this.#others()
  }

  /** Languages of the passages in Latin script, most frequent first. */
  #spoken(): readonly Language[] {
    const max = [...this.#languages].toSorted(([, a], [, b]) => b - a)
    const total = max.reduce((sum, [, count]) => sum + count, 0)
    const spoken = max.filter(([, count]) => count >= total * minShare).map(([language]) => language)
    return spoken.length > 0 ? spoken : ['en']
  }
}

/** Returns all text by which a passage can be found. */
const wordsOf = ({ speaker, heading, text }: Passage): string => {
  if (!speaker && !heading) return text
  return [speaker, heading, text].filter(Boolean).join('\n')
}
