import type { PassageTable } from '../passage-table.ts'
import type { Postings } from '../postings.ts'
import type { Weights } from './weights.ts'

/** The parts of an index in which the words of a question are looked up. */
export interface Lexicon {
  readonly postings: Postings
  readonly table: PassageTable
  readonly weights: Weights
  /** 1 for each slot whose passage may be found. */
  readonly allowed: Uint8Array
}

/** Returns the inverse document frequency of a word that `frequency` of `of` passages have. */
export const idfOf = (frequency: number, of: number): number => Math.log(1 + (of - frequency + 0.5) / (frequency + 0.5))
