import { type Fact, FactGraph } from '#facts/index.ts'
import { Pause } from '#retrieval/index.ts'
import { factOf, isShown } from '../understanding.ts'
import type { UserMemoryIndex } from './user-memory-index.ts'

/** A memory that is connected with an entity of a query, and its distance in relations. */
export interface GraphHit {
  readonly id: string
  readonly hops: number
}

/** The relations between the facts of one user's memories, and the memory that states each fact. */
export interface MemoryGraph {
  readonly graph: FactGraph
  readonly sources: ReadonlyMap<Fact, string>
}

interface Kept {
  readonly revision: number
  readonly graph: Promise<MemoryGraph>
}

const kept = new WeakMap<UserMemoryIndex, Kept>()

/** Maximum number of relations between an entity of the query and a memory that is added to the hits. */
const hopsOfSearch = 2

/** Maximum number of entities of a query that are followed. */
const maxSeeds = 3

/**
 * Returns the graph of the facts that are currently valid; it is cached until the memories change. Building it does not
 * hold the event loop.
 */
export const graphIn = (index: UserMemoryIndex): Promise<MemoryGraph> => {
  const known = kept.get(index)
  if (known?.revision === index.revision) return known.graph
  const graph = built(index)
  kept.set(index, { graph, revision: index.revision })
  return graph
}

const built = async (index: UserMemoryIndex): Promise<MemoryGraph> => {
  const pause = new Pause()
  const rest = () => (pause.due() ? pause.turn() : undefined)
  const sources = new Map<Fact, string>()
  for (const entry of [...index.entries()]) {
    const { id, facts, validTo } = entry
    if (validTo !== null || index.get(id) !== entry) continue
    for (const fact of facts) if (isShown(fact) && fact.valid_to_ms === null) sources.set(factOf(fact), id)
    const waits = rest()
    if (waits !== undefined) await waits
  }
  return { graph: await FactGraph.gradually([...sources.keys()], rest), sources }
}

/** Yields the memories whose facts are connected with an entity of the query, each once, nearest first. */
export async function* connectedMemories(
  index: UserMemoryIndex,
  query: string,
  accepts: (id: string) => boolean,
): AsyncGenerator<GraphHit> {
  if (!index.hasFacts) return
  const { graph, sources } = await graphIn(index)
  const walks = graph
    .named(query)
    .slice(0, maxSeeds)
    .map((name) => graph.connected(name, hopsOfSearch))
  const known = new Set<string>()
  for (let far = 1; far <= hopsOfSearch; far++) {
    for (const walk of walks) {
      for (const { fact, hops } of walk) {
        const id = hops === far ? sources.get(fact) : undefined
        if (id === undefined || known.has(id) || !accepts(id)) continue
        known.add(id)
        yield { id, hops }
      }
    }
  }
}
