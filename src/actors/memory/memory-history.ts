import type { ResultOf } from '#specs/index.ts'
import { projectScope } from '#storage/index.ts'
import { timestampOf, timestampOrNull } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import type { Table } from '../records/table.ts'
import { startOf } from './indexes/settled-facts.ts'
import { factKey, type UserMemoryIndex } from './indexes/user-memory-index.ts'
import type { MemoryData } from './kinds.ts'

type Line = ResultOf<'memory.history'>['history'][number]

/** Maximum number of memories followed along `superseded_by`. */
const maxFollowed = 20

/** Maximum number of memories that are looked at to find those that a memory superseded. */
const maxScanned = 500

/** Returns the memories that a memory superseded, its versions, and the memories that superseded it, oldest first. */
export const memoryHistory = async (
  table: Table<MemoryData>,
  row: Row<MemoryData>,
  index: UserMemoryIndex,
): Promise<readonly Line[]> => {
  const lines: Line[] = (await earlierOf(table, row, index)).flatMap(linesOf)
  lines.push(...linesOf(row))
  const seen = new Set([row.id])
  let next = row.data.superseded_by
  while (next !== null && !seen.has(next) && seen.size <= maxFollowed) {
    seen.add(next)
    const later = await table.get(projectScope(row.project), next)
    if (later === null || later.data.owner !== row.data.owner) break
    lines.push({ ...lineOf(later.id, currentOf(later), 'superseded') })
    next = later.data.superseded_by
  }
  return lines
}

/** Returns the memories that a memory superseded, directly or through others. All state facts of the same kind. */
const earlierOf = async (
  table: Table<MemoryData>,
  row: Row<MemoryData>,
  index: UserMemoryIndex,
): Promise<readonly Row<MemoryData>[]> => {
  const ended = row.data.facts
    .flatMap(({ subject, relation }) => [...index.about(factKey(subject, relation))])
    .filter(({ id, validTo }) => id !== row.id && validTo !== null)
    .toSorted((a, b) => b.validFrom - a.validFrom)
  const ids = [...new Set(ended.map(({ id }) => id))].slice(0, maxScanned)
  const rows = await table.getMany(projectScope(row.project), ids)
  const byLater = Map.groupBy(rows.values(), ({ data }) => data.superseded_by)
  const found = new Map<string, Row<MemoryData>>()
  for (let later = [row.id]; later.length > 0 && found.size < maxFollowed; ) {
    const before = later.flatMap((id) => byLater.get(id) ?? []).filter(({ id }) => id !== row.id && !found.has(id))
    for (const each of before.slice(0, maxFollowed - found.size)) found.set(each.id, each)
    later = before.map(({ id }) => id)
  }
  return [...found.values()].toSorted((a, b) => startOf(a.data) - startOf(b.data))
}

interface StoredVersion {
  readonly content: string
  readonly valid_from_ms: number | null
  readonly valid_to_ms: number | null
  readonly at_ms: number
}

const linesOf = (row: Row<MemoryData>): Line[] => {
  const versions: readonly StoredVersion[] = [...row.data.versions, currentOf(row)]
  return versions.map((each, at) => lineOf(row.id, each, at === 0 ? 'written' : 'changed'))
}

const currentOf = ({ data, created_at }: Row<MemoryData>): StoredVersion => ({
  content: data.content,
  valid_from_ms: startOf(data),
  valid_to_ms: data.valid_to_ms,
  at_ms: data.versions.at(-1)?.at_ms ?? created_at,
})

const lineOf = (
  id: string,
  { content, valid_from_ms, valid_to_ms, at_ms }: StoredVersion,
  event: Line['event'],
): Line => ({
  ...{ id, content, event },
  valid_from: timestampOrNull(valid_from_ms),
  valid_to: timestampOrNull(valid_to_ms),
  at: timestampOf(at_ms),
})
