import type { ResultOf } from '#specs/index.ts'
import { rowTimes, timestampOf, timestampOrNull } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { supersededParts } from './indexes/superseded-parts.ts'
import type { MemoryData } from './kinds.ts'
import { isShown } from './understanding.ts'

/** A memory as the API returns it. */
export type MemoryView = ResultOf<'memory.get'>

/** Returns a stored memory as the API returns it. */
export const memoryView = (row: Row<MemoryData>): MemoryView => {
  const { data } = row
  return {
    id: row.id,
    userId: row.user ?? '',
    tenant_id: row.tenant,
    content: data.content,
    scope: data.scope,
    sessionId: data.session_id,
    namespace: data.namespace,
    importance: data.importance,
    pinned: data.pinned,
    metadata: data.metadata,
    source: data.source,
    speaker: data.speaker,
    facts: data.facts.filter(isShown).map(({ subject, relation, object, single, valid_from_ms }) => ({
      ...{ subject, relation, object, single },
      valid_from: timestampOf(valid_from_ms),
    })),
    redacted: data.redacted,
    observed_at: timestampOf(data.observed_at_ms),
    valid_from: timestampOrNull(data.valid_from_ms),
    valid_to: timestampOrNull(data.valid_to_ms),
    superseded_by: data.superseded_by,
    superseded: supersededView(data),
    flags: data.flags ?? [],
    embedder: data.embedder,
    ...rowTimes(row),
    expires_at: timestampOrNull(row.expires_at),
  }
}

/** Returns the superseded parts of a memory as the API returns them. */
export const supersededView = (data: Pick<MemoryData, 'superseded'>): MemoryView['superseded'] =>
  supersededParts(data).map(({ text, valid_to_ms, by }) => ({
    ...{ content: text, valid_to: timestampOf(valid_to_ms), superseded_by: by },
  }))
