import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import type { Scope } from '#storage/index.ts'
import type { Call } from '../call/call.ts'
import { orNotFound } from '../call/not-found.ts'
import type { UseCases } from '../call/use-cases.ts'
import { Audited } from '../records/audited.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { changedMemory } from './changed-memory.ts'
import { filterOf, type MemoryPlace, type NamedPlace } from './indexes/memory-place.ts'
import { instantOf } from './instant.ts'
import type { FactData, MemoryData } from './kinds.ts'
import { memories } from './kinds.ts'
import { memoryHistory } from './memory-history.ts'
import { ownerOf, ownersScope } from './memory-owner.ts'
import { memoryPage } from './memory-page.ts'
import { ownerOfRow } from './memory-row.ts'
import { memoryView } from './memory-view.ts'
import type { NewMemory, WriteResult } from './memory-writer.ts'
import type { OpenMemory } from './open-memory.ts'
import type { ListedWrite } from './writes/forgotten-writes.ts'

type MemoryOps = 'write' | 'write_batch' | 'search' | 'list' | 'get' | 'update' | 'delete' | 'history'
type MemoryUseCases = Pick<UseCases, `memory.${MemoryOps}`>

type WriteBody = BodyOf<'memory.write'>
type Item = BodyOf<'memory.write_batch'>['memories'][number]

/** Use-cases that write, search, read and change memories. */
export const memoryUseCases = (memory: OpenMemory): MemoryUseCases => {
  const { writer, search, now } = memory
  const table = new Table(memory.records, memories, now)
  return {
    'memory.write': async (call) => {
      const owner = ownerOf(call.scope, call.body)
      const result = await writer.write(owner, [newMemory(call.body, call.body)], writeOptions(call, 'write'))
      const [written] = result.memories
      if (written === undefined) throw new ServiceError('internal_error')
      const { id, duplicate, superseded, redacted, flags } = written
      return { id, ...(duplicate && { duplicate: true as const }), superseded, redacted, flags, ...costOf(result) }
    },
    'memory.write_batch': async (call) => {
      const owner = ownerOf(call.scope, call.body)
      const items = call.body.memories.map((item, at) => ({
        ...newMemory(item, { ...call.body, ...named(item) }),
        param: `memories.${at}.content`,
      }))
      const result = await writer.write(owner, items, { ...writeOptions(call, 'write'), each: true })
      const written = result.memories.map(({ id, duplicate, flags, error }) =>
        error === undefined
          ? { id, ...(duplicate && { duplicate: true as const }), ...(flags.length > 0 && { flags }) }
          : { error: refusalOf(error) },
      )
      return { memories: written, ...costOf(result) }
    },
    'memory.search': async ({ scope, body }) =>
      search.search(ownerOf(scope, body), {
        text: body.query,
        place: filterOf(body),
        limit: body.topK,
        threshold: body.threshold,
        asOf: instantOf('asOf', body.asOf) ?? null,
        graph: body.graph,
        index: body.mode === 'index',
        explain: body.explain,
      }),
    'memory.list': async ({ scope, query }) => {
      const owner = ownerOf(scope, query)
      const place = { ...filterOf(query), anySession: query.sessionId === undefined }
      const page = await memoryPage(table, owner, {
        ...{ limit: query.limit, cursor: query.cursor, place },
        ...(!query.superseded && { heldAt: now() }),
      })
      return { memories: page.rows.map(memoryView), count: page.rows.length, nextCursor: page.nextCursor }
    },
    'memory.get': async ({ scope, params }) => memoryView(await found(table, scope, params.memory_id)),
    'memory.update': (call) => changedMemory(memory, call),
    'memory.delete': (call) => removedMemory(memory, call),
    'memory.history': async ({ scope, params }) => {
      const row = await found(table, scope, params.memory_id)
      return { id: row.id, history: await memoryHistory(table, row, await memory.indexes.open(ownerOfRow(row))) }
    },
  }
}

/** Removes one memory with its vector, and the logs of the writes that stated it. @throws {ServiceError} `not_found` */
const removedMemory = async (memory: OpenMemory, call: Call<{ readonly memory_id: string }, unknown, unknown>) => {
  const table = new Table(memory.records, memories, memory.now)
  const row = await found(table, call.scope, call.params.memory_id)
  const owner = ownerOfRow(row)
  const isOf = ({ id, memories: ids }: ListedWrite): boolean => id === row.data.receipt || ids.includes(row.id)
  // first the writes: a repeat of the request after a crash would not find the memory, and leave its exchange
  await memory.forgetWrites(owner, isOf)
  const removed = await table.remove(ownersScope(owner), row.id, new Audited(call, 'memory').removed())
  if (!removed) throw new ServiceError('not_found')
  await memory.indexes.wrote(owner, [row.id], (index) => void index.remove(row.id))
  await memory.purge(owner, [])
  return { id: row.id, deleted: true as const }
}

/** @throws {ServiceError} `not_found`, also for a memory outside of the scope. */
const found = async (table: Table<MemoryData>, scope: Scope, id: string): Promise<Row<MemoryData>> =>
  orNotFound(await table.get(scope, id))

const writeOptions = (
  { idempotency, body }: Pick<Call<unknown, unknown, Pick<WriteBody, 'wait' | 'dry_run'>>, 'idempotency' | 'body'>,
  source: string,
) => ({ source, seed: idempotency?.seed ?? null, wait: body.wait, dryRun: body.dry_run })

const refusalOf = ({ code, message, details: { param } }: ServiceError) => ({
  ...{ code, message },
  ...(param !== undefined && { param }),
})

const costOf = ({ costUsd, model, provider, embedding, warnings }: WriteResult) => ({
  ...{ costUsd, model, provider, embedding, warnings },
})

/** Returns the place fields that an item of a batch sets itself. */
const named = ({ scope, sessionId, namespace }: Item): NamedPlace => ({
  ...(scope !== undefined && { scope }),
  ...(sessionId !== undefined && { sessionId }),
  ...(namespace !== undefined && { namespace }),
})

/**
 * Returns the place that a write names.
 *
 * @throws {ServiceError} `missing_field` for scope `session` without a session
 */
export const writtenPlace = ({ scope = 'user', sessionId, namespace }: NamedPlace): MemoryPlace => {
  if (scope === 'session' && sessionId === undefined)
    throw new ServiceError('missing_field', {
      param: 'sessionId',
      message: 'A memory with scope session requires sessionId.',
    })
  return { scope, session: sessionId ?? null, namespace: namespace ?? null }
}

const newMemory = (item: Item, place: NamedPlace): NewMemory => {
  const observedAt = instantOf('observed_at', item.observed_at)
  const [validFrom, validTo] = [instantOf('valid_from', item.valid_from), instantOf('valid_to', item.valid_to)]
  if (validTo !== undefined && validTo < (validFrom ?? validTo))
    throw new ServiceError('invalid_field', { param: 'valid_to', message: 'valid_to is before valid_from.' })
  return {
    ...{ content: item.content, place: writtenPlace(place), importance: item.importance, pinned: item.pinned },
    ...{ metadata: item.metadata, speaker: item.speaker, observedAt, validFrom, validTo },
    facts: givenFacts(item.facts ?? [], { text: item.content, at: validFrom ?? observedAt ?? Date.now() }),
  }
}

type GivenFact = NonNullable<Item['facts']>[number]

/** Converts the facts of a request to stored facts, the first of which has the text that states them. */
export const givenFacts = (
  facts: readonly GivenFact[],
  { text, at }: { readonly text: string; readonly at: number },
): readonly FactData[] =>
  facts.map(({ subject, relation, object, single = false, valid_from }, place) => ({
    // a memory stores the texts of all of its facts: a long one would be stored dozens of times
    ...{ subject, relation, object, single, ended: false, text: place === 0 ? text : '' },
    valid_from_ms: instantOf('facts', valid_from) ?? at,
    valid_to_ms: null,
    observed_at_ms: at,
  }))
