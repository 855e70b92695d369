import type { Fact } from '#facts/fact.ts'
import { type FactGraph, graphOf } from '#facts/graph.ts'
import { factOf } from '../understanding.ts'
import type { ScopeIndex } from './scope-index.ts'

/** A memory that relations lead to, and how far it is. */
export interface GraphHit {
  readonly id: string
  readonly hops: number
}

/** The relations of one user's memories, and which memory says each. */
export interface MemoryGraph {
  readonly graph: FactGraph
  readonly sources: ReadonlyMap<Fact, string>
}

interface Kept extends MemoryGraph {
  readonly revision: number
}

const kept = new WeakMap<ScopeIndex, Kept>()

/** Relations between what a query names and what is added to its hits, at most. */
const hopsOfSearch = 2

/** Entities of one query that are followed. */
const mostSeeds = 3

/** The graph of what holds now; kept until the memories change. */
export const graphIn = (index: ScopeIndex): MemoryGraph => {
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

/** Memories whose facts are connected with what a query names, each once and the nearest first. */
export function* connectedMemories(
  index: ScopeIndex,
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
