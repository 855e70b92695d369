import { statementOf } from '#facts/fact.ts'
import { memoryWriteDefinition } from '#machines/memory-write/memory-write-definition.ts'
import type { IdempotentEffect } from '#runtime/effects/effects.ts'
import { contextOf } from '#runtime/schema.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { FactData } from '../kinds.ts'
import type { MemoryWriter, NewMemory } from '../memory-writer.ts'
import { factOf, screened } from '../understanding.ts'
import { failedBy } from './extract-facts.ts'
import { exchangeOf, factsOfWrite, type StoredExchange } from './schema.ts'

/** Memories of one exchange at most. */
const mostMemories = 50

/** Stores the facts of an exchange, a memory a sentence, under ids that follow from the write: made again it stores nothing twice. */
export const storeMemories = ({ writer }: { readonly writer: MemoryWriter }): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (_params, context) => {
    const { exchange, facts, source } = contextOf(memoryWriteDefinition, context)
    if (exchange === null || facts === null) return { event: { type: 'memories_stored', memories: [] } }
    const { project, tenant, user } = context.owner
    const items = memoriesOf(exchangeOf(exchange), factsOfWrite(facts))
    if (user === null || items.length === 0) return { event: { type: 'memories_stored', memories: [] } }
    try {
      const options = { source, seed: context.actor.slice(-26), receipt: context.actor, counted: true }
      const { memories } = await writer.write({ project, tenant, user }, items, options)
      const written = memories.map(({ id, duplicate }) => ({ id, duplicate }))
      return { event: { type: 'memories_stored', memories: written } }
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'memory_quota_exceeded')
        return { event: { type: 'write_failed', code: error.code, message: error.message, final: true } }
      if (error instanceof ServiceError) return failedBy(error)
      throw error
    }
  },
})

const memoriesOf = (exchange: StoredExchange, facts: readonly FactData[]): readonly NewMemory[] => {
  const importance = exchange.importance ?? 0.5
  if (importance < (exchange.min_importance ?? 0)) return []
  const bySentence = Map.groupBy(facts, ({ text }) => text)
  const { scope, session, namespace, metadata, at_ms: observedAt } = exchange
  const items = [...bySentence].map(([text, said]): NewMemory => {
    const content = text.trim() === '' ? said.map((fact) => statementOf(factOf(fact))).join('. ') : text
    const place = { scope, session, namespace }
    return { content, place, importance, metadata, observedAt, facts: said, byFacts: true }
  })
  return items.filter(({ content }) => screened(content).refused === null).slice(0, mostMemories)
}
