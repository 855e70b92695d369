import { Table } from '#records/table.ts'
import { derivedId } from '#runtime/ids.ts'
import { projectScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import { type MemoryChangesData, memoryChanges } from '../kinds.ts'
import { type MemoryOwner, ownerKey } from '../memory-owner.ts'

/** Changes since an index was last synchronised; `ids` is null when the index must be read again completely. */
export interface ChangesSince {
  readonly version: number
  readonly ids: readonly string[] | null
}

const most = 64
const mostIds = 256

/**
 * Announces to other nodes which memories of a user were written. There is one row per user; it is changed before the
 * write is acknowledged, so that a search on any node sees the write. A single process does not need it.
 */
export class MemoryChanges {
  readonly #table: Table<MemoryChangesData>

  constructor(records: RecordStore, now: () => number) {
    this.#table = new Table(records, memoryChanges, now)
  }

  /** @returns the version number of this change. @throws {StoreUnavailable} */
  async note(owner: MemoryOwner, ids: readonly string[]): Promise<number> {
    const { project, tenant, user } = owner
    const key = ownerKey(owner)
    const id = derivedId('mch', 1, `${project} ${key}`)
    const recent = (version: number, before: MemoryChangesData['recent']): MemoryChangesData['recent'] =>
      ids.length > mostIds ? [] : [...before, { version, ids: [...ids] }].slice(-most)
    for (;;) {
      const changed = await this.#table.change(projectScope(project), id, {
        edit: (row) => ({ ...row.data, recent: recent(row.version + 1, row.data.recent) }),
      })
      if (changed !== null) return changed.version
      const made = await this.#table.insert({ id, project, tenant, user, data: { owner: key, recent: recent(1, []) } })
      if (made !== null) return made.version
    }
  }

  /** Returns the changes after version `seen`; null when there are none. */
  async since(owner: MemoryOwner, seen: number): Promise<ChangesSince | null> {
    const row = await this.#table.get(
      projectScope(owner.project),
      derivedId('mch', 1, `${owner.project} ${ownerKey(owner)}`),
    )
    if (row === null || row.version === seen) return null
    const missed = row.data.recent.filter(({ version }) => version > seen)
    const whole = missed.length === row.version - seen
    return { version: row.version, ids: whole ? [...new Set(missed.flatMap(({ ids }) => ids))] : null }
  }
}
