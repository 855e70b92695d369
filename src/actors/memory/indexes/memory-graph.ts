import type { Fact } from '#facts/fact.ts'
import { type FactGraph, graphOf } from '#facts/graph.ts'
import { factOf } from '../understanding.ts'
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

interface Kept extends MemoryGraph {
  readonly revision: number
}

const kept = new WeakMap<UserMemoryIndex, Kept>()

/** Maximum number of relations between an entity of the query and a memory that is added to the hits. */
const hopsOfSearch = 2

/** Maximum number of entities of a query that are followed. */
const mostSeeds = 3

/** Returns the graph of the facts that are currently valid; it is cached until the memories change. */
export const graphIn = (index: UserMemoryIndex): MemoryGraph => {
  const known = kept.get(index)
  if (known?.revision === index.revision) return known
  const sources = new Map<Fact, string>()
  for (const { id, facts, validTo } of index.entries()) {
    if (validTo !== null) continue
    for (const fact of facts) if (!fact.ended && fact.valid_to_ms === null) sources.set(factOf(fact), id)
  }
  const made = { graph: graphOf([...sources.keys()]), sources, revision: index.revision }
  kept.set(index, made)
  return made
}

/** Yields the memories whose facts are connected with an entity of the query, each once, nearest first. */
export function* connectedMemories(
  index: UserMemoryIndex,
  query: string,
  accepts: (id: string) => boolean,
): Generator<GraphHit> {
  if (!index.hasFacts) return
  const { graph, sources } = graphIn(index)
  const walks = graph
    .named(query)
    .slice(0, mostSeeds)
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
