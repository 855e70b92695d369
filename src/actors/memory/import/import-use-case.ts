import type { UseCases } from '#actors/call/use-cases.ts'
import { Pause } from '#retrieval/index.ts'
import { isObject } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { maxMemoryLength } from '#specs/memory-objects.ts'
import { maxMetadataBytes } from '#specs/tools.ts'
import type { Json, JsonObject } from '#storage/index.ts'
import { instantIn } from '../instant.ts'
import type { FactData } from '../kinds.ts'
import { ownerOf } from '../memory-owner.ts'
import type { NewMemory } from '../memory-writer.ts'
import type { OpenMemory } from '../open-memory.ts'
import { exportedIn } from './exported-memory.ts'

/** Maximum lengths of names and of a fact's object, as in every other write. */
const [maxName, maxObject] = [256, 1024]
/** Maximum number of facts of one memory; an export has at most 32 given ones and 200 that rules found. */
const maxFacts = 232

/** Imports memories from our own export format, Mem0's memories and Zep's edges. */
export const importUseCase = ({ writer }: OpenMemory): Pick<UseCases, 'memory.import'> => ({
  'memory.import': async ({ scope, body, idempotency }) => {
    const owner = ownerOf(scope, { userId: body.userId })
    const { memories = [], results = [], relations = [] } = body
    if (body.memories === undefined && body.results === undefined && body.relations === undefined)
      throw new ServiceError('missing_field', { param: 'memories' })
    const items: NewMemory[] = []
    const pause = new Pause()
    for (const read of [
      ...memories.map((item, at) => () => importedOf(item, `memories.${at}`)),
      ...results.map((item, at) => () => importedOf(item, `results.${at}`)),
      ...relations.map((item, at) => () => relationOf(item, `relations.${at}`)),
    ]) {
      items.push(read())
      if (pause.due()) await pause.turn()
    }
    if (items.length === 0) return { imported: 0, duplicates: 0, memories: [], warnings: [] }
    const options = { source: 'import', seed: idempotency?.seed ?? null }
    const { memories: all, warnings } = await writer.write(owner, items, options)
    const written = all.map(({ id, duplicate }) => ({ id, ...(duplicate && { duplicate: true as const }) }))
    const duplicates = all.filter(({ duplicate }) => duplicate).length
    return { imported: all.length - duplicates, duplicates, memories: written, warnings }
  },
})

const importedOf = (item: JsonObject, param: string): NewMemory => {
  const content = textIn(item.content) ?? textIn(item.memory) ?? textIn(item.fact) ?? textIn(item.text)
  if (content === undefined || content.length > maxMemoryLength)
    throw new ServiceError('invalid_field', { param, message: `${param} has no content that can be stored.` })
  const nameIn = (field: string): string | undefined => {
    const name = textIn(item[field])
    if (name === undefined || name.length <= maxName) return name
    throw new ServiceError('invalid_field', {
      param: `${param}.${field}`,
      message: `${param}.${field} has more than ${maxName} characters.`,
    })
  }
  const session = nameIn('sessionId') ?? nameIn('run_id') ?? null
  const scope = item.scope === 'session' && session !== null ? ('session' as const) : ('user' as const)
  const observedAt = timeIn(item.observed_at) ?? timeIn(item.created_at)
  return {
    ...{ content, observedAt, param: `${param}.content` },
    place: { scope, session, namespace: nameIn('namespace') ?? null },
    importance: numberIn(item.importance),
    pinned: item.pinned === true,
    metadata: metadataOf(categorised(item), `${param}.metadata`),
    validFrom: timeIn(item.valid_from) ?? timeIn(item.valid_at),
    validTo: timeIn(item.valid_to) ?? timeIn(item.invalid_at) ?? timeIn(item.expiration_date),
    speaker: nameIn('speaker'),
    exported: exportedIn(item, content),
    facts: Array.isArray(item.facts)
      ? item.facts
          .slice(0, maxFacts)
          .flatMap((fact) => factIn(fact, { content, observedAt }))
          .map((fact, place) => (place === 0 ? fact : { ...fact, text: '' }))
      : [],
  }
}

/** Returns an edge of a graph as a memory whose content states it. */
const relationOf = (item: JsonObject, param: string): NewMemory => {
  const { source: subject, relationship: relation = item.relation, target: object = item.destination } = item
  const words = [subject, relation, object].map((word) => textIn(word)?.replaceAll('_', ' '))
  const content = words.includes(undefined) ? '' : words.join(' ')
  const facts = factIn({ subject: subject ?? null, relation: relation ?? null, object: object ?? null }, { content })
  if (content === '' || facts.length === 0)
    throw new ServiceError('invalid_field', { param, message: `${param} has no source, relationship and target.` })
  const place = { scope: 'user', session: null, namespace: null } as const
  return { content, facts, place, byFacts: true, param }
}

/** Returns the metadata with the categories of Mem0, which have no field here. */
const categorised = ({ metadata, categories }: JsonObject): Json | undefined =>
  Array.isArray(categories) && categories.length > 0 ? { categories, ...(isObject(metadata) && metadata) } : metadata

/** @throws {ServiceError} `invalid_field` for more than 16 KB of JSON, as in every other write */
const metadataOf = (value: Json | undefined, param: string): JsonObject => {
  if (!isObject(value)) return {}
  if (Buffer.byteLength(JSON.stringify(value)) <= maxMetadataBytes) return value
  throw new ServiceError('invalid_field', { param, message: `${param} has more than ${maxMetadataBytes} bytes.` })
}

const factIn = (
  fact: Json,
  { content, observedAt = Date.now() }: { readonly content: string; readonly observedAt?: number | undefined },
): readonly FactData[] => {
  if (!isObject(fact)) return []
  const [subject, relation, object] = [textIn(fact.subject), textIn(fact.relation), textIn(fact.object)]
  if (subject === undefined || relation === undefined || object === undefined) return []
  if (subject.length > maxName || relation.length > maxName || object.length > maxObject) return []
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

const timeIn = (value: Json | undefined): number | undefined =>
  typeof value === 'string' ? instantIn(value) : undefined
