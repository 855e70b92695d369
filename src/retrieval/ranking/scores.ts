import type { PageLeads } from '../page-leads.ts'
import type { StoredCosines } from '../passage-query.ts'
import type { PassageTable } from '../passage-table.ts'
import type { Postings } from '../postings.ts'
import type { VectorTable } from '../vector-table.ts'
import type { Background } from './background.ts'
import { calibrated, levelled } from './calibration.ts'
import type { Cosines } from './cosines.ts'
import type { LexicalScores } from './lexical.ts'
import type { Corpus } from './lexicon.ts'
import { featuresOf, type MemoryEvidence, memoryLogit, probabilityOf } from './memory-score.ts'
import { highest } from './top.ts'
import type { Weights } from './weights.ts'

/** The parts of an index that a search reads. */
export interface Searched {
  readonly table: PassageTable
  readonly vectors: VectorTable
  readonly leads: PageLeads
  readonly postings: Postings
  readonly weights: Weights
  /** Null for an index that has all of its passages. */
  readonly corpus: Corpus | null
}

function maxOf(scores: Float32Array): number {
  let max = 0
  for (let slot = 0; slot < scores.length; slot++) {
    const score = scores[slot] ?? 0
    if (score > max) max = score
  }
  return max
}

const partsOf = ({ own, paged, window, topic }: Cosines, slot: number): Readonly<Record<string, number>> => ({
  ...{ vector: own[slot] ?? 0, window: window[slot] ?? 0 },
  ...(paged !== own && { page: paged[slot] ?? 0 }),
  ...(topic !== null && { topic: topic[slot] ?? 0 }),
})

/** What is known of the vectors of a search. */
export interface ComparedVectors {
  /** Vector of the question. */
  readonly vector: Float32Array | null
  readonly embedder: string | null
  readonly background: Background | null
  /** Cosines with vectors that are not in the index. */
  readonly stored: StoredCosines | null
}

/** Number of memories nearest to the question that are looked at, whatever else is known of them. */
const nearest = 10
/**
 * Weight of the fused score, relative to the best, in the order of memories; and that among memories of sessions, which
 * need each other to be understood.
 */
const fusedShare = 1
const fusedShareOfSessions = 400
/** Difference in the order at which two memories count as equal, relative to the weights. */
const sameScore = 0.01

/** Without a background: the share of an embedder's range at which texts are unrelated, and its standard deviation. */
const unrelated = 0.33
const deviation = 0.08

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
  readonly #allowed: Uint8Array
  readonly #compared: ComparedVectors
  readonly #max: number
  readonly #size: number
  readonly #logits = new Map<number, number>()
  /** Odds of the passages that were read together with the question, by slot. */
  readonly #read = new Map<number, number>()
  #lowestRead = Number.POSITIVE_INFINITY
  #ofQuestion: number | null = null
  /** Weight of the fused score in the order of memories; null while the fused score alone orders. */
  #fusedShare: number | null = null
  #spoken: number | null = null

  constructor(searched: Searched, all: AllScores, { allowed, size, compared }: ScoredSearch) {
    this.#in = searched
    this.#all = all
    this.#allowed = allowed
    this.#compared = compared
    this.fused = all.fused
    this.#max = maxOf(all.fused)
    this.#size = size
  }

  /** Returns the probability that a passage answers the question. */
  calibrated(slot: number): number {
    if (this.#in.weights.calibration === 'memory') return probabilityOf(this.logit(slot))
    const evidence = { cosine: this.#cosine(slot), found: this.words(slot), rank: this.#rank(slot) }
    return calibrated({ ...evidence, unseenNames: this.#all.lexical.unseenNames }, this.#compared.embedder)
  }

  /** Returns the logarithm of the odds that a memory answers the question. */
  logit(slot: number): number {
    const known = this.#logits.get(slot)
    if (known !== undefined) return known
    const logit = memoryLogit(this.#evidence(slot))
    // what was not read because it seemed worse cannot be better than all that was
    const max = this.#read.size === 0 || this.#read.has(slot) ? Number.POSITIVE_INFINITY : this.#lowestRead
    this.#logits.set(slot, Math.min(logit, max))
    return Math.min(logit, max)
  }

  /**
   * Adds what reading the question and memories together has shown, by slot.
   *
   * @param isAll whether all of the best were read: then no other memory is better than the worst of them.
   */
  setRead(odds: ReadonlyMap<number, number>, isAll: boolean): void {
    this.#logits.clear()
    for (const [slot, each] of odds) this.#read.set(slot, each)
    if (isAll) this.#lowestRead = Math.min(...[...odds.keys()].map((slot) => this.logit(slot)))
  }

  /**
   * Adds to the best memories those nearest to the question, and those with its words that have no vector yet. Returns
   * all in the order of their scores; the fused score, which also knows sessions and dates, decides between similar ones.
   */
  inOrder(best: readonly number[], count: number): readonly number[] {
    const { cosines, lexical } = this.#all
    if (cosines === null) return best
    const { vectors, table } = this.#in
    const near = highest(this.#only(cosines.own, true), nearest)
    const hasFresh = vectors.size < table.size
    const unembedded = hasFresh ? highest(this.#only(lexical.scores, false), nearest) : []
    this.#fusedShare = fusedShare + (fusedShareOfSessions - fusedShare) * this.#sessionShare()
    const all = [...new Set([...best, ...near, ...unembedded])]
    return all.toSorted((a, b) => this.#place(b) - this.#place(a)).slice(0, count)
  }

  /** Whether a passage is as good as another one, up to a share of the fused score or a small difference of the score. */
  isAsGood(slot: number, other: number, share: number): boolean {
    if (this.#fusedShare === null) return (this.fused[slot] ?? 0) >= share * (this.fused[other] ?? 0)
    return this.#place(slot) >= this.#place(other) - sameScore * (1 + this.#fusedShare)
  }

  #place(slot: number): number {
    return this.logit(slot) + (this.#fusedShare ?? 0) * this.#rank(slot)
  }

  /** Returns the share of the memories searched that are in a session with others. */
  #sessionShare(): number {
    const { groups } = this.#in.table
    if (groups.size === 0) return 0
    let count = 0
    for (let slot = 0; slot < this.#allowed.length; slot++) {
      const group = this.#allowed[slot] === 1 ? groups.numberOf(slot) : -1
      if (group !== -1 && groups.sizeOf(group) > 1) count++
    }
    return count / Math.max(1, this.#size)
  }

  /** Returns the share of the memories searched that are turns of named people; 0 for fewer than two people. */
  #spokenShare(): number {
    if (this.#spoken !== null) return this.#spoken
    const { table } = this.#in
    let count = 0
    for (let slot = 0; table.speakers.size > 1 && slot < this.#allowed.length; slot++)
      if (this.#allowed[slot] === 1 && table.speakerOf(slot) !== -1) count++
    this.#spoken = count / Math.max(1, this.#size)
    return this.#spoken
  }

  /** Returns the values of the passages that may be found, with a vector or without one; 0 for all others. */
  #only(values: Float32Array, withVector: boolean): Float32Array {
    const { vectors } = this.#in
    const only = new Float32Array(values.length)
    for (let slot = 0; slot < values.length; slot++)
      if (this.#allowed[slot] === 1 && vectors.has(slot) === withVector) only[slot] = values[slot] ?? 0
    return only
  }

  /** Whether the passage has a vector that can be compared with the question's. */
  isCompared = (slot: number): boolean => this.#cosine(slot) !== null

  #evidence(slot: number): MemoryEvidence {
    const { lexical, others, rival } = this.#all
    const { found, around } = this.#found(slot)
    return {
      ...{ vector: this.#above(slot), found, around, total: lexical.total, matched: lexical.total * found },
      isTopical: lexical.isTopical(slot),
      ...{ length: this.#in.table.lengthOf(slot), size: this.#size, read: this.#read.get(slot) ?? null },
      ...{ spoken: this.#spokenShare(), other: others?.[slot] === 1, rival, unseenNames: lexical.unseenNames },
    }
  }

  #cosine(slot: number): number | null {
    const { cosines } = this.#all
    return cosines !== null && this.#hasVector(slot) ? (cosines.own[slot] ?? 0) : null
  }

  /** Compares the cosine with those of unrelated texts. */
  #above(slot: number): MemoryEvidence['vector'] {
    const cosine = this.#cosine(slot)
    if (cosine === null) return null
    const { vector, background, embedder } = this.#compared
    if (background === null || vector === null) {
      const above = (levelled(cosine, embedder) - unrelated) / deviation
      return { ofQuestion: above, ofMemory: above }
    }
    this.#ofQuestion ??= background.ofQuestion(vector)
    const ofMemory = this.#in.vectors.unrelated(slot, background)
    return { ofQuestion: background.above(cosine, this.#ofQuestion), ofMemory: background.above(cosine, ofMemory) }
  }

  #hasVector(slot: number): boolean {
    const { vectors, table } = this.#in
    if (!vectors.isStored(slot)) return vectors.has(slot)
    return this.#compared.stored?.get(table.idOf(slot) ?? '') !== null
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
    const parts = { lexical: lexical.scores[slot] ?? 0, ...vectors, group, title, ...words, ...person }
    if (this.#in.weights.calibration !== 'memory') return { ...parts, rank: this.#rank(slot) }
    const { question, memory, matched, total, length, size } = featuresOf(this.#evidence(slot))
    const above = this.isCompared(slot) ? { above_unrelated: question, above_unrelated_questions: memory } : {}
    const odds = this.#read.get(slot)
    return {
      ...parts,
      ...above,
      ...(odds !== undefined && { read: odds }),
      rank: this.#rank(slot),
      matched,
      total,
      length,
      size,
    }
  }

  #rank(slot: number): number {
    return this.#max === 0 ? 0 : (this.fused[slot] ?? 0) / this.#max
  }

  /** Neighbours that may not be found count for nothing. */
  #found(slot: number): { readonly found: number; readonly around: number } {
    const { groups } = this.#in.table
    const { found } = this.#all.lexical
    const own = found(slot)
    const beside = [groups.before(slot), groups.after(slot)].filter((other) => this.#allowed[other] === 1)
    return { found: own, around: Math.max(own, ...beside.map(found)) }
  }
}

/** Which passages a search may find, by slot, and what is known of their vectors. */
interface ScoredSearch {
  readonly allowed: Uint8Array
  /** Number of these passages. */
  readonly size: number
  readonly compared: ComparedVectors
}
