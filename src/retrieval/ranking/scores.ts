import type { PageLeads } from '../page-leads.ts'
import type { StoredCosines } from '../passage-query.ts'
import type { PassageTable } from '../passage-table.ts'
import type { Postings } from '../postings.ts'
import type { VectorTable } from '../vector-table.ts'
import { calibrated } from './calibration.ts'
import type { Cosines } from './cosines.ts'
import type { LexicalScores } from './lexical.ts'
import type { Weights } from './weights.ts'

/** The parts of an index that a search reads. */
export interface Searched {
  readonly table: PassageTable
  readonly vectors: VectorTable
  readonly leads: PageLeads
  readonly postings: Postings
  readonly weights: Weights
}

function mostOf(scores: Float32Array): number {
  let most = 0
  for (let slot = 0; slot < scores.length; slot++) {
    const score = scores[slot] ?? 0
    if (score > most) most = score
  }
  return most
}

const partsOf = ({ own, paged, window, topic }: Cosines, slot: number): Readonly<Record<string, number>> => ({
  ...{ vector: own[slot] ?? 0, window: window[slot] ?? 0 },
  ...(paged !== own && { page: paged[slot] ?? 0 }),
  ...(topic !== null && { topic: topic[slot] ?? 0 }),
})

/** Number of passages at which the rank counts half as much as among many. */
const few = 10

export interface Parts {
  readonly lexical: LexicalScores
  readonly cosines: Cosines | null
  readonly others: Uint8Array | null
  /** How well the titles of groups match the question, by group number. */
  readonly titles: ReadonlyMap<number, number>
}

/** The parts with the scores that they result in. */
export interface AllScores extends Parts {
  readonly fused: Float32Array
  /**
   * Best score of passages by others, relative to the best of the person named in the question; 0 when it names none.
   */
  readonly rival: number
}

/** The scores of one search, and the details of a passage's score. */
export class Scores {
  readonly fused: Float32Array
  readonly #in: Searched
  readonly #all: AllScores
  readonly #most: number
  readonly #stored: StoredCosines | null

  /** @param stored cosines with vectors that are not in the index. */
  constructor(searched: Searched, all: AllScores, stored: StoredCosines | null) {
    this.#in = searched
    this.#all = all
    this.#stored = stored
    this.fused = all.fused
    this.#most = mostOf(all.fused)
  }

  calibrated(slot: number, embedder: string | null): number {
    const { lexical, cosines } = this.#all
    const cosine = cosines !== null && this.#hasVector(slot) ? (cosines.own[slot] ?? 0) : null
    const { found, around } = this.#found(slot)
    const { others, rival } = this.#all
    const person = { other: others?.[slot] === 1, rival, unseenNames: lexical.unseenNames }
    const evidence = { cosine, found, around, rank: this.#standing(slot, around), ...person }
    return calibrated(evidence, { profile: this.#in.weights.calibration, embedder })
  }

  #hasVector(slot: number): boolean {
    const { vectors, table } = this.#in
    if (!vectors.isStored(slot)) return vectors.has(slot)
    return this.#stored?.get(table.idOf(slot) ?? '') !== null
  }

  /** Returns the share of the question's weight in words that the passage has. */
  words = (slot: number): number => this.#all.lexical.found(slot)

  /** Returns the share of that weight that two passages have in common. */
  shared = (slot: number, other: number): number => this.#all.lexical.shared(slot, other)

  parts(slot: number): Readonly<Record<string, number>> {
    const { lexical, cosines } = this.#all
    const vectors = cosines === null ? {} : partsOf(cosines, slot)
    const number = this.#in.table.groups.numberOf(slot)
    const [group, title] = [lexical.groups[number] ?? 0, this.#all.titles.get(number) ?? 0]
    const { found, around } = this.#found(slot)
    const words = { words_found: found, words_around: around, names_unseen: lexical.unseenNames }
    const person = { other_person: this.#all.others?.[slot] ?? 0, rival: this.#all.rival }
    return { lexical: lexical.scores[slot] ?? 0, ...vectors, group, title, ...words, ...person, rank: this.#rank(slot) }
  }

  /**
   * Scales the rank. Among few passages a high rank means little, so it counts only as far as the question's words are
   * found.
   */
  #standing(slot: number, around: number): number {
    const { size } = this.#in.table
    const many = size / (size + few)
    return this.#rank(slot) * (many + (1 - many) * around)
  }

  #rank(slot: number): number {
    return this.#most === 0 ? 0 : (this.fused[slot] ?? 0) / this.#most
  }

  #found(slot: number): { readonly found: number; readonly around: number } {
    const { groups } = this.#in.table
    const { found } = this.#all.lexical
    const own = found(slot)
    const around = Math.max(own, found(groups.before(slot)), found(groups.after(slot)))
    return { found: own, around }
  }
}
