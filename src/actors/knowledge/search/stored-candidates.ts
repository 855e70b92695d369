import type { PassageQuery } from '#retrieval/passage-query.ts'
import { storedCosines } from '#retrieval/stored-cosines.ts'
import type { StoredVector, VectorStore } from '#storage/vector-port.ts'
import { vectorSpaceOf } from '../sources/stored-vectors.ts'
import type { BaseIndex } from './base-index.ts'
import type { SourceFilter } from './metadata-filter.ts'

/** A search of a base of which the database searches some vectors. */
export interface StoredSearch {
  readonly project: string
  readonly base: string
  readonly embedder: string
  readonly index: BaseIndex
  /** Whether a source may be found; null for all. */
  readonly accepts: SourceFilter | null
  readonly vector: Float32Array
  readonly topic: Float32Array | null
}

/**
 * Number of candidates for each vector. Many more than hits: a passage that is among the first by neither its words nor
 * a vector may still be the best by both.
 */
const candidates = 200
/** Number of the farthest passages, which give the lower end of the scale of cosines. */
const farthest = 20

/**
 * Returns the cosines of the passages that may be the best hits: those that the database finds near each vector, and
 * those that the index needs because of their words and pages. The farthest passages are the lower end of the scale of
 * cosines. So the hits are those of an exact search, unless one of them is none of the candidates.
 *
 * The result rejects with `StoreUnavailable`, and with the errors of a database whose search fails.
 */
export const storedCandidates = (vectors: VectorStore, search: StoredSearch): NonNullable<PassageQuery['stored']> => {
  const { project, base, embedder, index, accepts, vector, topic } = search
  const space = vectorSpaceOf(base, embedder)
  const groups = groupsOf(index, accepts)
  const nearest = (near: Float32Array, limit: number) =>
    vectors.nearest({ project, space, groups, vector: near, limit })
  const both = [vector, ...(topic === null ? [] : [topic])]
  const searches = Promise.all(both.flatMap((near) => [nearest(near, candidates), nearest(opposite(near), farthest)]))
  // the failure is reported to the search, which needs the cosines later, or never if no passage may be found
  searches.catch(() => {})
  return async (needed) => {
    const found = new Map<string, StoredVector>()
    for (const each of (await searches).flat()) found.set(each.id, each)
    const ids = needed.filter((id) => !found.has(id) && index.chunk(id)?.source.isStored)
    for (const each of await vectors.get(project, space, ids)) found.set(each.id, each)
    const all = { vectors: [...found.values()], without: ids.filter((id) => !found.has(id)) }
    return {
      vector: storedCosines(vector, all),
      topic: topic === null ? null : storedCosines(topic, all),
    }
  }
}

const opposite = (vector: Float32Array): Float32Array => vector.map((value) => -value)

/** Returns the sources that may be found; null if all may. */
const groupsOf = (index: BaseIndex, accepts: SourceFilter | null): readonly string[] | null => {
  if (accepts === null) return null
  const sources = [...index.sources].filter(({ isStored }) => isStored)
  const accepted = sources.filter(({ row }) => accepts(row))
  return accepted.length === sources.length ? null : accepted.map(({ row }) => row.id)
}
