import type { StoredCosines } from './passage-query.ts'
import { cosineOf, queryVectorOf } from './vector-table.ts'

/** A vector from a store, at one byte per dimension, and the id of its passage. */
interface Candidate {
  readonly id: string
  readonly numbers: Int8Array
}

/** Candidates of a search. */
export interface Candidates {
  readonly vectors: readonly Candidate[]
  /** Passages without a vector. */
  readonly without: readonly string[]
}

/** Returns the cosines of a query with candidates, computed as in an index that holds their vectors. */
export function storedCosines(vector: Float32Array, { vectors, without }: Candidates): StoredCosines {
  const query = queryVectorOf(vector)
  const cosines = new Map<string, number | null>(without.map((id) => [id, null]))
  for (const { id, numbers } of vectors) cosines.set(id, query === null ? 0 : cosineOf(query, numbers))
  return cosines
}
