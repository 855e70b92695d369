import { type PassageQuery, storedCosines } from '#retrieval/index.ts'
import type { StoredVector, VectorStore } from '#storage/index.ts'
import { vectorSpaceOf } from '../sources/stored-vectors.ts'
import type { BaseIndex } from './base-index.ts'
import type { SourceFilter } from './metadata-filter.ts'

/** What is read of a `BaseIndex`. */
type SearchedIndex = Pick<BaseIndex, 'sources' | 'isStored' | 'chunkOf' | 'passageOf'>

/** A search of a base of which the database searches some vectors. */
export interface StoredSearch {
  readonly project: string
  readonly base: string
  readonly embedder: string
  readonly index: SearchedIndex
  /** Whether a source may be found; null for all. */
  readonly accepts: SourceFilter | null
  readonly vector: Float32Array
  readonly topic: Float32Array | null
  /** Maximum number of hits. */
  readonly limit: number
}

/**
 * Number of candidates for each vector, and at least how many for each hit. Many more than hits: a passage that is among
 * the first by neither its words nor a vector may still be the best by both.
 */
const [minCandidates, candidatesEach] = [200, 20]
/**
 * Number of farthest candidates for each vector. Cosines are scaled from the lowest of any passage, and the passage with
 * the lowest one is often another when the lead of its page counts too, or when the database misses some.
 */
const farthest = 20

/**
 * Returns the cosines of the passages that may be the best hits: those that the database finds near each vector, and
 * those that the index needs because of their words and pages. The farthest passages are the lower end of the scale of
 * cosines. So the hits are those of an exact search, unless one of them is none of the candidates.
 *
 * The result rejects with `StoreUnavailable`, and with the errors of a database whose search fails.
 */
export const storedCandidates = (
  vectors: Pick<VectorStore, 'nearest' | 'get'>,
  search: StoredSearch,
): NonNullable<PassageQuery['stored']> => {
  const { project, base, embedder, index, accepts, vector, topic, limit } = search
  const space = vectorSpaceOf(base, embedder)
  const groups = groupsOf(index, accepts)
  const candidates = Math.max(minCandidates, limit * candidatesEach)
  const nearest = async (near: Float32Array, count: number) =>
    groups?.length === 0 ? [] : vectors.nearest({ project, space, groups, vector: near, limit: count })
  const both = [vector, ...(topic === null ? [] : [topic])]
  const searches = Promise.all(both.flatMap((near) => [nearest(near, candidates), nearest(opposite(near), farthest)]))
  // the failure is reported to the search, which needs the cosines later, or never if no passage may be found
  searches.catch(() => {})
  return async (needed) => {
    const found = new Map<string, StoredVector>()
    const add = (each: StoredVector): void => {
      const id = index.passageOf(each.id)
      if (id !== null) found.set(id, { ...each, id })
    }
    // both scales are of the same passages: one that is far from the query may be near to its topic
    for (const each of (await searches).flat()) add(each)
    const ids = needed.filter((id) => !found.has(id) && index.isStored(id))
    for (const each of await vectors.get(project, space, ids.map(index.chunkOf.bind(index)))) add(each)
    const all = { vectors: [...found.values()], without: ids.filter((id) => !found.has(id)) }
    return {
      vector: storedCosines(vector, all),
      topic: topic === null ? null : storedCosines(topic, all),
    }
  }
}

const opposite = (vector: Float32Array): Float32Array => vector.map((value) => -value)

/** Returns the sources that may be found; null if all may. */
const groupsOf = (index: SearchedIndex, accepts: SourceFilter | null): readonly string[] | null => {
  if (accepts === null) return null
  const sources = [...index.sources].filter(({ isStored }) => isStored)
  const accepted = sources.filter(({ id, facts }) => accepts({ id, data: facts }))
  return accepted.length === sources.length ? null : accepted.map(({ id }) => id)
}
