import { projectScope } from '#storage/index.ts'
import type { Notice } from '../records/notices.ts'
import type { AnyKind } from '../records/schema.ts'
import { type EraserParts, eraseListed, type Sink } from '../runtime/internal.ts'
import { sourceRows } from './kinds.ts'
import type { BaseIndexes } from './search/base-indexes.ts'

/** Name of the sink that receives `{ type: 'delete', knowledge_base_id }` and removes the contents of the base. */
export const deletionSink = 'knowledge_deletions'

/** Returns the message stored with the removal of a base, so that its contents are removed even after a crash. */
export const deletionNotice = (knowledge_base_id: string): Notice => ({
  kind: 'message',
  to: deletionSink,
  event: { type: 'delete', knowledge_base_id },
})

export interface RemovalParts {
  readonly indexes: Pick<BaseIndexes, 'remove'>
}

const pageSize = 200

/** Removes the sources of a deleted base, with their chunks, and its records of the given kinds. */
export const removeContents =
  (parts: EraserParts & RemovalParts, kinds: readonly AnyKind[]): Sink =>
  async ({ project, tenant }, { event }) => {
    const { knowledge_base_id } = event
    if (typeof knowledge_base_id !== 'string') return
    const scope = projectScope(project)
    const where = { knowledge_base_id }
    await eraseListed(parts, { rows: sourceRows, scope, where })
    await parts.indexes.remove({ project, tenant, base: knowledge_base_id })
    const { records } = parts.storage
    for (const kind of kinds) {
      for (;;) {
        const page = await records.list(kind, scope, { where, limit: pageSize })
        for (const { id } of page) await records.remove(kind, scope, id)
        if (page.length < pageSize) break
      }
    }
  }
