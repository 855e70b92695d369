import { statementOf } from '#facts/index.ts'
import type { WrittenMemoryRef } from '#machines/memory-write/memory-write.ts'
import { memoryWriteDefinition } from '#machines/memory-write/memory-write-definition.ts'
import { contextOf, type EffectContext, type IdempotentEffect } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { FactData } from '../kinds.ts'
import type { MemoryWriter, NewMemory } from '../memory-writer.ts'
import { factOf, screened } from '../understanding.ts'
import { failedBy } from './failed-write.ts'
import { exchangeOf, factsOfWrite, type StoredExchange } from './schema.ts'

/** Maximum number of memories from one exchange. */
const maxMemories = 50

export interface StoreParts {
  readonly writer: MemoryWriter
}

/** The facts of an exchange, and the origin of the write: `remember`, `chat` … */
interface StoredVersion {
  readonly exchange: StoredExchange
  readonly facts: readonly FactData[]
  readonly source: string
}

/** Stores the facts that a model extracted. */
export const storeMemories = (parts: StoreParts): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (_params, context) => {
    const { exchange, facts, source } = contextOf(memoryWriteDefinition, context)
    if (exchange === null || facts === null) return { event: { type: 'memories_stored', memories: [] } }
    try {
      const stated = { exchange: exchangeOf(exchange), facts: factsOfWrite(facts), source }
      return { event: { type: 'memories_stored', memories: await storedFacts(parts, context, stated) } }
    } catch (error) {
      if (error instanceof ServiceError) return failedBy(error)
      throw error
    }
  },
})

/**
 * Stores the facts of an exchange, one memory per sentence. The ids are derived from the write, so that a repetition
 * stores nothing twice.
 *
 * @throws {ServiceError} `memory_refused`, `memory_quota_exceeded`
 */
export const storedFacts = async (
  { writer }: StoreParts,
  { actor, owner: { project, tenant, user }, signal }: Pick<EffectContext, 'actor' | 'owner' | 'signal'>,
  { exchange, facts, source }: StoredVersion,
): Promise<readonly WrittenMemoryRef[]> => {
  const items = memoriesOf(exchange, facts)
  if (user === null || items.length === 0) return []
  const options = { source, seed: actor.slice(-26), receipt: actor, counted: true, signal }
  const { memories } = await writer.write({ project, tenant, user }, items, options)
  return memories.map(({ id, duplicate }) => ({ id, duplicate }))
}

const memoriesOf = (exchange: StoredExchange, facts: readonly FactData[]): readonly NewMemory[] => {
  const importance = exchange.importance ?? 0.5
  if (importance < (exchange.min_importance ?? 0)) return []
  const bySentence = Map.groupBy(facts, ({ text }) => text)
  const { scope, session, namespace, metadata, at_ms: observedAt } = exchange
  const items = [...bySentence].map(([text, stated]): NewMemory => {
    const content = text.trim() === '' ? stated.map((fact) => statementOf(factOf(fact))).join('. ') : text
    const place = { scope, session, namespace }
    return { content, place, importance, metadata, observedAt, facts: stated, byFacts: true }
  })
  return items.filter(({ content }) => screened(content).refused === null).slice(0, maxMemories)
}
