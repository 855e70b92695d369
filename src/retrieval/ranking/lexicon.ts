import type { Language } from '../analysis/languages.ts'
import type { PassageTable } from '../passage-table.ts'
import type { Postings } from '../postings.ts'
import type { Weights } from './weights.ts'

/** What is known of all passages by an index that has only some of them. */
export interface Corpus {
  /** Number of passages. */
  readonly size: number
  /** Average number of words of a passage. */
  readonly averageLength: number
  /** Number of passages by their language. */
  readonly languages: ReadonlyMap<Language, number>
  /** Returns the number of passages that have a word. */
  frequency(word: string): number
}

/** The passages by whose number words are weighed. */
export interface Weighed {
  readonly size: number
  readonly averageLength: number
  readonly frequency: (term: number) => number
}

/** Returns all passages of a corpus, or without one those of the index. */
export const weighedBy = (corpus: Corpus | null, { table, postings }: Pick<Lexicon, 'table' | 'postings'>): Weighed =>
  corpus === null
    ? { size: table.size, averageLength: table.averageLength, frequency: (term) => postings.frequency(term) }
    : {
        ...{ size: Math.max(corpus.size, table.size), averageLength: corpus.averageLength },
        frequency: (term) => Math.max(corpus.frequency(postings.nameOf(term)), postings.frequency(term)),
      }

/** The parts of an index in which the words of a question are looked up. */
export interface Lexicon {
  readonly postings: Postings
  readonly table: PassageTable
  readonly weights: Weights
  readonly weighed: Weighed
  /** 1 for each slot whose passage may be found. */
  readonly allowed: Uint8Array
}

/** Returns the inverse document frequency of a word that `frequency` of `of` passages have. */
export const idfOf = (frequency: number, of: number): number => Math.log(1 + (of - frequency + 0.5) / (frequency + 0.5))
