import type { PassageQuery } from '../passage-query.ts'
import type { Vectors, Work } from './cosines.ts'
import { highest } from './top.ts'

/** Number of the best passages by words, and by all that the index knows without their vectors. */
const bestByWords = 200
const bestByAll = 400
/** Number of passages of the pages whose leads are farthest from the query, for the lower end of the scale of cosines. */
const farthest = 50

/**
 * Returns the slots of passages whose stored vectors a search needs in addition to those near the query's: the passages
 * that may be the best with their words, titles and the leads of their pages, and those that may be the worst.
 *
 * @param plain scores without vectors, by slot; 0 for passages that may not be found.
 */
export function neededVectors(
  searched: Vectors,
  { vector, topic = null }: Pick<PassageQuery, 'vector' | 'topic'>,
  { plain, work }: { readonly plain: Float32Array; readonly work: Work },
): ReadonlySet<number> {
  const { weights } = searched
  const needed = new Set(highest(plain, bestByWords))
  const known = work.buffers.floats(plain.length)
  known.set(plain)
  for (const [query, weight] of [
    [vector, weights.vector],
    [topic, weights.topic],
  ] as const) {
    for (const slot of addLeads(known, searched, { query, weight, work })) needed.add(slot)
  }
  for (const slot of highest(known, bestByAll)) needed.add(slot)
  return needed
}

interface AddedLeads {
  readonly query: Float32Array | null
  readonly weight: number
  readonly work: Work
}

/** Adds the share of a score that comes from the lead of a passage's page; returns passages with the lowest share. */
function addLeads(
  scores: Float32Array,
  { leads, weights: { lead } }: Vectors,
  { query, weight, work: { buffers, allowed } }: AddedLeads,
): readonly number[] {
  const numbers = lead === 0 || weight === 0 ? null : leads.query(query)
  if (numbers === null) return []
  const cosines = buffers.floats(leads.extent)
  leads.cosines(numbers, cosines)
  let [low, high] = [1, -1]
  for (let slot = 0; slot < scores.length; slot++) {
    const page = allowed[slot] === 1 ? leads.pageOf(slot) : -1
    if (page === -1) continue
    low = Math.min(low, cosines[page] ?? 0)
    high = Math.max(high, cosines[page] ?? 0)
  }
  if (high <= low) return []
  const scale = (weight * lead) / (1 + lead) / (high - low)
  const far = buffers.floats(scores.length)
  for (let slot = 0; slot < scores.length; slot++) {
    const page = allowed[slot] === 1 ? leads.pageOf(slot) : -1
    if (page === -1) continue
    const cosine = cosines[page] ?? 0
    scores[slot] = (scores[slot] ?? 0) + scale * (cosine - low)
    far[slot] = high - cosine
  }
  return highest(far, farthest)
}
