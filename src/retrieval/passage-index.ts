import { analysisOf, conceptsOf } from './analysis/analysis.ts'
import type { Language } from './analysis/languages.ts'
import { PageLeads } from './page-leads.ts'
import type { Passage } from './passage.ts'
import type { PassageHits, PassageQuery } from './passage-query.ts'
import { PassageTable } from './passage-table.ts'
import { PostingBlock } from './posting-block.ts'
import { Postings } from './postings.ts'
import type { Corpus } from './ranking/lexicon.ts'
import { Search } from './ranking/search.ts'
import { type Profile, type Weights, weightsOf } from './ranking/weights.ts'
import { withBuffers } from './search-buffers.ts'
import type { AttachedSegment } from './segments/attached-segment.ts'
import type { DocumentSegment } from './segments/document-segment.ts'
import { VectorTable } from './vector-table.ts'

export type { PassageHits, PassageQuery } from './passage-query.ts'
export type { Profile } from './ranking/weights.ts'

/** Minimum share of passages in a language for questions to be analysed in it. */
const minShare = 0.05
const bytesOfNone = 4_096

/**
 * In-memory index of the passages of one scope, searched by words and vectors. Searches are exact. Texts are not kept:
 * a passage takes its vector, at one byte per dimension, and about 13 bytes per distinct word.
 */
export class PassageIndex {
  readonly #weights: Weights
  readonly #corpus: Corpus | null
  readonly #table = new PassageTable()
  readonly #vectors = new VectorTable()
  readonly #leads = new PageLeads()
  readonly #languages = new Map<Language, number>()
  /** Detected language of each passage, by slot, to update the counts when it is removed. */
  readonly #shown: (Language | null)[] = []
  readonly #others = (): Language => this.#spoken()[0] ?? 'en'
  readonly #postings = new Postings()

  /** @param corpus of which it has some passages; null: it has all. */
  constructor(profile: Profile, weights: Weights = weightsOf[profile], corpus: Corpus | null = null) {
    this.#weights = weights
    this.#corpus = corpus
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

  /**
   * Adds the documents of a segment, whose passages were analysed when it was made and have slots one after the other.
   *
   * @returns the first slot.
   */
  attach(attached: AttachedSegment): number {
    const { segment } = attached
    const first = this.#table.extent
    const kept = keptPassages(segment, attached.isKept)
    const block = new PostingBlock(segment, first)
    this.#table.attach(attached, this.#postings.attach(block), kept)
    for (let passage = 0; passage < kept.length; passage++) {
      const language = kept[passage] === 1 ? segment.language(passage) : null
      this.#shown[first + passage] = language
      if (kept[passage] === 0) block.remove(passage)
      else this.#count(language, 1)
    }
    this.#attachVectors(attached, first)
    return first
  }

  #attachVectors({ segment, isKept, vectorsOf }: AttachedSegment, first: number): void {
    const { vectors, leads, leadOf } = segment
    const some = (place: ReturnType<typeof vectorsOf>) =>
      keptPassages(segment, (document) => isKept(document) && vectorsOf(document) === place)
    const [here, stored] = [some('here'), some('stored')]
    if (vectors !== null) this.#vectors.attach(first, vectors, here)
    if (leads !== null) this.#leads.attach(first, { leads, leadOf, kept: here.map((is, at) => is | (stored[at] ?? 0)) })
    for (let at = stored.indexOf(1); at !== -1; at = stored.indexOf(1, at + 1)) this.#vectors.markStored(first + at)
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
      new Search({ table, vectors, leads, postings, weights, corpus: this.#corpus }, query, buffers).run(concepts),
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

  #spoken(): readonly Language[] {
    return spokenIn(this.#corpus?.languages ?? this.#languages)
  }
}

/** Languages of most passages in Latin script, most frequent first, of which these are the numbers of passages. */
export const spokenIn = (languages: ReadonlyMap<Language, number>): readonly Language[] => {
  const max = [...languages].toSorted(([, a], [, b]) => b - a)
  const total = max.reduce((sum, [, count]) => sum + count, 0)
  const spoken = max.filter(([, count]) => count >= total * minShare).map(([language]) => language)
  return spoken.length > 0 ? spoken : ['en']
}

/** Returns 1 for each passage of the documents. */
const keptPassages = ({ ids, starts, lengths }: DocumentSegment, isKept: (document: number) => boolean): Uint8Array => {
  const kept = new Uint8Array(lengths.length)
  for (let document = 0; document < ids.length; document++)
    if (isKept(document)) kept.fill(1, starts[document] ?? 0, starts[document + 1] ?? 0)
  return kept
}

/** Returns all text by which a passage can be found. */
const wordsOf = ({ speaker, heading, text }: Passage): string => {
  if (!speaker && !heading) return text
  return [speaker, heading, text].filter(Boolean).join('\n')
}
