import type { PassageTable } from '../passage-table.ts'
import type { Postings } from '../postings.ts'
import type { Weights } from './weights.ts'

/** What the words of a question are looked up in. */
export interface Lexicon {
  readonly postings: Postings
  readonly table: PassageTable
  readonly weights: Weights
  /** 1 for each slot whose passage may be found. */
  readonly allowed: Uint8Array
}

/** How much a word says that so many passages of an index have. */
export const idfOf = (frequency: number, of: number): number => Math.log(1 + (of - frequency + 0.5) / (frequency + 0.5))
