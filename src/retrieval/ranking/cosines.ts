import type { PageLeads } from '../page-leads.ts'
import type { PassageQuery, StoredCosines, StoredCosinesOfQuery } from '../passage-query.ts'
import type { PassageTable } from '../passage-table.ts'
import type { SearchBuffers } from '../search-buffers.ts'
import type { VectorTable } from '../vector-table.ts'
import type { Pause } from './pause.ts'
import type { Weights } from './weights.ts'

/** Cosines of a question with each passage, by slot. */
export interface Cosines {
  readonly own: Float32Array
  /** Averaged with that of the lead of the passage's page; `own` when no page has a vector. */
  readonly paged: Float32Array
  /** Averaged with the neighbouring passages. */
  readonly window: Float32Array
  /** Cosines of the question without the words that name a document, as in `paged`; null when it names none. */
  readonly topic: Float32Array | null
}

/** The parts of an index with vectors. */
export interface Vectors {
  readonly table: PassageTable
  readonly vectors: VectorTable
  readonly leads: PageLeads
  readonly weights: Weights
}

/** How a search works: when it yields, its arrays, and 1 for each slot whose passage may be found. */
export interface Work {
  readonly pause: Pause
  readonly buffers: SearchBuffers
  readonly allowed: Uint8Array
}

/** The vectors of a query, and what is known of its cosines with stored vectors. */
export interface QueryVectors extends Pick<PassageQuery, 'vector' | 'topic'> {
  readonly stored: StoredCosinesOfQuery | null
}

const neighbourShare = 0.7

/** Returns null when the query has no vector that can be compared with those of the index. */
export async function cosinesOf(
  searched: Vectors,
  { vector, topic = null, stored }: QueryVectors,
  work: Work,
): Promise<Cosines | null> {
  const { table, weights } = searched
  const own = await ownCosines(searched, { vector, stored: stored?.vector ?? null }, work)
  if (own === null) return null
  const unknown = stored === null ? null : unknownIn(searched, stored.vector, work)
  const paged = withLeads(searched, { own, vector }, work)
  const ownTopic =
    weights.topic === 0 ? null : await ownCosines(searched, { vector: topic, stored: stored?.topic ?? null }, work)
  const pagedTopic = ownTopic === null ? null : withLeads(searched, { own: ownTopic, vector: topic }, work)
  if (unknown !== null) for (const all of new Set([own, paged, pagedTopic])) fillUnknown(all, unknown, work)
  const window = weights.window === 0 ? own : await withNeighbours(table, own, work)
  return { own, paged, window, topic: pagedTopic }
}

async function ownCosines(
  { table, vectors }: Vectors,
  { vector, stored }: { readonly vector: Float32Array | null; readonly stored: StoredCosines | null },
  { pause, buffers, allowed: { length: extent } }: Work,
): Promise<Float32Array | null> {
  const query = vectors.query(vector)
  if (query === null && stored === null) return null
  const cosines = buffers.floats(extent)
  for (let from = 0; query !== null && from < extent; from += 1024) {
    vectors.cosines(query, cosines, { from, to: Math.min(extent, from + 1024) })
    if (pause.due()) await pause.turn()
  }
  for (const [id, cosine] of stored ?? []) {
    const slot = table.slotOf(id)
    if (vectors.isStored(slot) && slot < extent) cosines[slot] = cosine ?? 0
  }
  return cosines
}

/** Returns 1 for each slot whose vector is stored and whose cosine is unknown. */
function unknownIn({ table, vectors }: Vectors, known: StoredCosines, { buffers, allowed }: Work): Uint8Array {
  const unknown = buffers.flags(allowed.length)
  for (let slot = 0; slot < unknown.length; slot++) unknown[slot] = Number(vectors.isStored(slot))
  for (const id of known.keys()) {
    const slot = table.slotOf(id)
    if (slot !== -1 && slot < unknown.length) unknown[slot] = 0
  }
  return unknown
}

/** Gives the slots that are unknown the lowest value of the others. */
function fillUnknown(values: Float32Array | null, unknown: Uint8Array, { allowed }: Work): void {
  if (values === null) return
  let lowest = 1
  for (let slot = 0; slot < values.length; slot++)
    if (unknown[slot] === 0 && allowed[slot] === 1) lowest = Math.min(lowest, values[slot] ?? 0)
  for (let slot = 0; slot < values.length; slot++) if (unknown[slot] === 1) values[slot] = lowest
}

/** Averages each cosine with that of the lead of its page, where that has a vector. */
function withLeads(
  { leads, weights }: Vectors,
  { own, vector }: { readonly own: Float32Array; readonly vector: Float32Array | null },
  { buffers, allowed: { length: extent } }: Work,
): Float32Array {
  const query = weights.lead === 0 ? null : leads.query(vector)
  if (query === null) return own
  const cosines = buffers.floats(leads.extent)
  leads.cosines(query, cosines)
  const paged = buffers.floats(extent)
  for (let slot = 0; slot < extent; slot++) {
    const page = leads.pageOf(slot)
    const alone = own[slot] ?? 0
    paged[slot] = page === -1 ? alone : (alone + weights.lead * (cosines[page] ?? 0)) / (1 + weights.lead)
  }
  return paged
}

async function withNeighbours(
  { groups }: PassageTable,
  own: Float32Array,
  { pause, buffers, allowed }: Work,
): Promise<Float32Array> {
  const extent = allowed.length
  const window = buffers.floats(extent)
  const shown = (slot: number): number => (allowed[slot] === 1 ? slot : -1)
  for (let slot = 0; slot < extent; slot++) {
    const before = shown(groups.before(slot))
    const after = shown(groups.after(slot))
    const beside = Number(before !== -1) + Number(after !== -1)
    const sum = (own[slot] ?? 0) + neighbourShare * ((own[before] ?? 0) + (own[after] ?? 0))
    window[slot] = sum / (1 + beside * neighbourShare)
    if (slot % 1024 === 0 && pause.due()) await pause.turn()
  }
  return window
}
