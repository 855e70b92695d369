import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import type { Call } from '../call/call.ts'
import { orNotFound } from '../call/not-found.ts'
import { Audited } from '../records/audited.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { startOf } from './indexes/settled-facts.ts'
import { instantOf } from './instant.ts'
import { type FactData, type MemoryData, memories } from './kinds.ts'
import type { PassedMemory } from './memory-batch.ts'
import { ownersScope } from './memory-owner.ts'
import { ownerOfRow } from './memory-row.ts'
import { type MemoryView, memoryView } from './memory-view.ts'
import type { OpenMemory } from './open-memory.ts'
import { factsIn, flaggedAs } from './understanding.ts'

type Body = BodyOf<'memory.update'>
type UpdateCall = Call<{ readonly memory_id: string }, unknown, Body>

/** Maximum number of earlier versions kept per memory; beyond it, the oldest are dropped. */
const maxVersions = 20

/**
 * Updates one memory; its previous content stays in its history.
 *
 * @throws {ServiceError} `not_found`, `memory_refused`, `invalid_field` when the memory would end before it begins
 */
export const changedMemory = async (memory: OpenMemory, call: UpdateCall): Promise<MemoryView> => {
  const { records, now, indexes, queue, limits } = memory
  const table = new Table(records, memories, now)
  const known = orNotFound(await table.get(call.scope, call.params.memory_id))
  const owner = ownerOfRow(known)
  await limits.operation(owner, 'writes')
  const { content } = call.body
  const [checked = null] = content === undefined ? [] : await memory.writer.checked(owner.project, [{ content }])
  const observedAt = instantOf('observed_at', call.body.observed_at) ?? known.data.observed_at_ms
  // also of a content that is the same: another change may come in between
  const facts = checked === null ? [] : await factsIn(checked.content, { observedAt, speaker: known.data.speaker })
  const edit = ({ data }: Row<MemoryData>) => changed(data, call.body, { checked, facts, now: now() })
  const notices = new Audited(call, 'memory').changed<MemoryData>()
  const row = orNotFound(await table.change(ownersScope(owner), known.id, { edit, notices }))
  await indexes.wrote(owner, [row.id], (index) => index.put(row))
  if (row.data.vector === null) void queue.add(owner, [row.id])
  return memoryView(row)
}

const changesTimes = ({ valid_from, valid_to }: Body): boolean => valid_from !== undefined || valid_to !== undefined

type Checked = Pick<PassedMemory, 'content' | 'redacted' | 'flags'>

interface Found {
  /** null: the content stays. */
  readonly checked: Checked | null
  /** Facts of the new content. */
  readonly facts: readonly FactData[]
  readonly now: number
}

const changed = (data: MemoryData, body: Body, { checked, facts: found, now }: Found): MemoryData => {
  const times = {
    observed_at_ms: instantOf('observed_at', body.observed_at) ?? data.observed_at_ms,
    valid_from_ms: body.valid_from === null ? null : (instantOf('valid_from', body.valid_from) ?? data.valid_from_ms),
    valid_to_ms: body.valid_to === null ? null : (instantOf('valid_to', body.valid_to) ?? data.valid_to_ms),
  }
  const begins = times.valid_from_ms ?? times.valid_to_ms
  if (changesTimes(body) && begins !== null && times.valid_to_ms !== null && times.valid_to_ms < begins)
    throw new ServiceError('invalid_field', { param: 'valid_to', message: 'valid_to is before valid_from.' })
  const next: MemoryData = {
    ...data,
    ...times,
    importance: body.importance ?? data.importance,
    pinned: body.pinned ?? data.pinned,
    metadata: body.metadata ?? data.metadata,
    namespace: body.namespace === undefined ? data.namespace : body.namespace,
  }
  if (checked === null || checked.content === data.content) return next
  const { content, redacted } = checked
  const version = { content: data.content, valid_from_ms: startOf(data), valid_to_ms: now }
  const versions = [...data.versions, { ...version, at_ms: now }].slice(-maxVersions)
  const facts = found.map((fact) => ({ ...fact, implied: true }))
  const { superseded: _parts, flags: _flags, ...kept } = next
  return { ...kept, content, redacted, facts, versions, embedder: null, vector: null, ...flaggedAs(checked.flags) }
}
