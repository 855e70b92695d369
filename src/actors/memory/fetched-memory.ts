import type { AgentResource, ServerToolCall, ToolOutcome } from '#actors/capability/agent-resources.ts'
import { memoryFetch } from '#actors/capability/memory-service.ts'
import type { RecordStore } from '#storage/index.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { isObject } from '../runtime/index.ts'
import { isSeenFrom, type PlaceFilter } from './indexes/memory-place.ts'
import { holdingContent } from './indexes/superseded-parts.ts'
import { type MemoryData, memories } from './kinds.ts'
import { ownersScope } from './memory-owner.ts'
import { memoryView } from './memory-view.ts'

export interface FetchParts {
  readonly records: RecordStore
  readonly now: () => number
}

/** Provides the tool `memory_fetch`, with which turns and runs that received an index of memories read one in full. */
export const fetchedMemory = (parts: FetchParts): AgentResource => ({
  name: memoryFetch.resource,
  // the tool is offered together with the index: an agent's config does not name memories
  fields: [],
  missing: async () => null,
  offer: async () => ({ instructions: [], tools: [] }),
  run: (call) => fetched(parts, call),
})

const fetched = async ({ records, now }: FetchParts, call: ServerToolCall): Promise<ToolOutcome> => {
  const { id } = isObject(call.arguments) ? call.arguments : {}
  if (typeof id !== 'string' || id === '')
    return { ok: false, code: 'invalid_field', message: 'The argument id must be an id from the index.' }
  const { project, tenant, user } = call
  const table = new Table(records, memories, now)
  const row = user === null ? null : await table.get(ownersScope({ project, tenant, user }), id)
  const { namespace } = call.tool.settings
  const place = { scope: null, session: call.sessionId ?? call.runId, namespace: textOrNull(namespace) }
  if (row === null || !isShown(row, { tenant, place }))
    return { ok: false, code: 'not_found', message: 'The user has no such memory.' }
  const { observed_at, valid_from, valid_to, superseded } = memoryView(row)
  const content = holdingContent(row.data)
  return { ok: true, output: JSON.stringify({ id, content, observed_at, valid_from, valid_to, superseded }) }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** The tenant has to match: a user without a tenant and a tenant's user of the same id are different users. */
const isShown = (
  { tenant, data }: Row<MemoryData>,
  seen: { readonly tenant: string | null; readonly place: PlaceFilter },
): boolean => {
  const { scope, session_id: session, namespace } = data
  return tenant === seen.tenant && data.flags === undefined && isSeenFrom(seen.place, { scope, session, namespace })
}
