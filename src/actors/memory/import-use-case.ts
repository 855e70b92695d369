import { ServiceError } from '#specs/errors/errors.ts'
import { maxMemoryLength } from '#specs/memory-objects.ts'
import type { Json, JsonObject } from '#storage/ports.ts'
import type { UseCases } from '../call/use-cases.ts'
import { isObject } from '../runtime/schema.ts'
import type { FactData } from './kinds.ts'
import { ownerOf } from './memory-owner.ts'
import type { NewMemory } from './memory-writer.ts'
import type { OpenMemory } from './open-memory.ts'

/** Imports memories from our own export format and from Mem0's. */
export const importUseCase = ({ writer }: OpenMemory): Pick<UseCases, 'memory.import'> => ({
  'memory.import': async ({ scope, body, idempotency }) => {
    const owner = ownerOf(scope, { userId: body.userId })
    const name = body.memories === undefined ? 'results' : 'memories'
    const given = body.memories ?? body.results
    if (given === undefined) throw new ServiceError('missing_field', { param: 'memories' })
    const items = given.map((item, at) => importedOf(item, `${name}.${at}`))
    if (items.length === 0) return { imported: 0, duplicates: 0, memories: [], warnings: [] }
    const options = { source: 'import', seed: idempotency?.seed ?? null }
    const { memories, warnings } = await writer.write(owner, items, options)
    const written = memories.map(({ id, duplicate }) => ({ id, ...(duplicate && { duplicate: true as const }) }))
    const duplicates = memories.filter(({ duplicate }) => duplicate).length
    return { imported: memories.length - duplicates, duplicates, memories: written, warnings }
  },
})

const importedOf = (item: JsonObject, param: string): NewMemory => {
  const content = textIn(item.content) ?? textIn(item.memory) ?? textIn(item.text)
  if (content === undefined || content.length > maxMemoryLength)
    throw new ServiceError('invalid_field', { param, message: `${param} has no content that can be stored.` })
  const session = textIn(item.sessionId) ?? textIn(item.run_id) ?? null
  const scope = item.scope === 'session' && session !== null ? ('session' as const) : ('user' as const)
  const observedAt = timeIn(item.observed_at) ?? timeIn(item.created_at)
  return {
    ...{ content, observedAt, param: `${param}.content` },
    place: { scope, session, namespace: textIn(item.namespace) ?? null },
    importance: numberIn(item.importance),
    pinned: item.pinned === true,
    metadata: isObject(item.metadata) ? item.metadata : {},
    validFrom: timeIn(item.valid_from),
    validTo: timeIn(item.valid_to),
    speaker: textIn(item.speaker),
    facts: Array.isArray(item.facts) ? item.facts.flatMap((fact) => factIn(fact, { content, observedAt })) : [],
  }
}

const factIn = (
  fact: Json,
  { content, observedAt = Date.now() }: { readonly content: string; readonly observedAt: number | undefined },
): readonly FactData[] => {
  if (!isObject(fact)) return []
  const [subject, relation, object] = [textIn(fact.subject), textIn(fact.relation), textIn(fact.object)]
  if (subject === undefined || relation === undefined || object === undefined) return []
  const valid_from_ms = timeIn(fact.valid_from) ?? observedAt
  return [
    {
      ...{ subject, relation, object, single: fact.single === true, ended: false },
      ...{ valid_from_ms, valid_to_ms: null, observed_at_ms: observedAt, text: content },
    },
  ]
}

const textIn = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

const numberIn = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= 1 ? value : undefined

const timeIn = (value: Json | undefined): number | undefined => {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}
