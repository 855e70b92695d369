import type { MemoryData } from '../kinds.ts'

/** Position of a memory within its user's memories: scope, session and namespace. */
export interface MemoryPlace {
  readonly scope: 'user' | 'session'
  readonly session: string | null
  readonly namespace: string | null
}

/** Filter of a search by place. Memories of other sessions are never found. */
export interface PlaceFilter {
  readonly scope: 'user' | 'session' | null
  readonly session: string | null
  /** Null: all namespaces. */
  readonly namespace: string | null
}

/** Fields of a request that name a place. */
export interface NamedPlace {
  readonly scope?: 'user' | 'session' | undefined
  readonly sessionId?: string | undefined
  readonly namespace?: string | undefined
}

/** Returns the place of a stored memory. */
export const placeOf = ({ scope, session_id, namespace }: MemoryData): MemoryPlace => ({
  scope,
  session: session_id,
  namespace,
})

/** Returns the filter that a request describes. */
export const filterOf = ({ scope, sessionId, namespace }: NamedPlace): PlaceFilter => ({
  scope: scope ?? null,
  session: sessionId ?? null,
  namespace: namespace ?? null,
})

/** Whether a search at `filter` may see a memory at `place`. */
export const isSeenFrom = (filter: PlaceFilter, { scope, session, namespace }: MemoryPlace): boolean => {
  if (filter.namespace !== null && namespace !== filter.namespace) return false
  if (scope === 'session') return filter.scope !== 'user' && filter.session !== null && session === filter.session
  return filter.scope !== 'session'
}
