import type { ResultOf } from '#specs/index.ts'
import { projectScope } from '#specs/scope.ts'
import { timestampOf, timestampOrNull } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import type { Table } from '../records/table.ts'
import type { MemoryData } from './kinds.ts'

type Line = ResultOf<'memory.history'>['history'][number]

/** Maximum number of memories followed along `superseded_by`. */
const mostFollowed = 20

/** Returns the content of a memory over time: its versions, then the memories that superseded it. */
export const memoryHistory = async (table: Table<MemoryData>, row: Row<MemoryData>): Promise<readonly Line[]> => {
  const lines: Line[] = linesOf(row)
  const seen = new Set([row.id])
  let next = row.data.superseded_by
  while (next !== null && !seen.has(next) && seen.size <= mostFollowed) {
    seen.add(next)
    const later = await table.get(projectScope(row.project), next)
    if (later === null || later.data.owner !== row.data.owner) break
    lines.push({ ...lineOf(later.id, currentOf(later), 'superseded') })
    next = later.data.superseded_by
  }
  return lines
}

interface Said {
  readonly content: string
  readonly valid_from_ms: number | null
  readonly valid_to_ms: number | null
  readonly at_ms: number
}

const linesOf = (row: Row<MemoryData>): Line[] => {
  const said: readonly Said[] = [...row.data.versions, currentOf(row)]
  return said.map((each, at) => lineOf(row.id, each, at === 0 ? 'written' : 'changed'))
}

const currentOf = ({ data, created_at }: Row<MemoryData>): Said => ({
  content: data.content,
  valid_from_ms: data.valid_from_ms ?? data.observed_at_ms,
  valid_to_ms: data.valid_to_ms,
  at_ms: data.versions.at(-1)?.at_ms ?? created_at,
})

const lineOf = (id: string, { content, valid_from_ms, valid_to_ms, at_ms }: Said, event: Line['event']): Line => ({
  ...{ id, content, event },
  valid_from: timestampOrNull(valid_from_ms),
  valid_to: timestampOrNull(valid_to_ms),
  at: timestampOf(at_ms),
})
