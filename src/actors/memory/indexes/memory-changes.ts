import { randomUUID } from 'node:crypto'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { derivedId } from '#runtime/index.ts'
import { projectScope, type RecordStore } from '#storage/index.ts'
import { type MemoryChangesData, memoryChanges, type PendingWrite } from '../kinds.ts'
import { type MemoryOwner, ownerKey } from '../memory-owner.ts'

/** Changes since an index was last synchronised; `ids` is null when the index must be read again completely. */
export interface ChangesSince {
  readonly version: number
  readonly ids: readonly string[] | null
  /** A write that is being carried out. */
  readonly pending: PendingWrite | null
}

/** Time in ms for which a process that waits keeps its turn: it may have died, and its clock may have been ahead. */
const turnMs = 1_000

const max = 64
const maxIds = 256

type Recent = MemoryChangesData['recent']

/**
 * The row of a user's memory, through which writes of all nodes pass one after the other, and which announces to other
 * nodes which memories were written (specs/decisions/0133-memory.md). It is changed before a write is
 * acknowledged, so that a search on any node sees the write, and a write whose process was killed is carried out whole. A
 * store that only one process can use does not need it.
 */
export class MemoryChanges {
  readonly #table: Table<MemoryChangesData>
  readonly #now: () => number
  readonly #process = randomUUID()

  constructor(records: RecordStore, now: () => number) {
    this.#table = new Table(records, memoryChanges, now)
    this.#now = now
  }

  /** @returns the version number of this change. @throws {StoreUnavailable} */
  note(owner: MemoryOwner, ids: readonly string[]): Promise<number> {
    return this.#change(owner, ids, (pending) => pending)
  }

  /**
   * Claims the next write: what it stores and supersedes is now decided. Nothing else may be decided until `carriedOut`.
   * Processes whose writes came second have the next turns: one with many writes would always be first again.
   *
   * @param seen the version on which the decision is based.
   * @returns whether it was claimed; false when another change came first. @throws {StoreUnavailable}
   */
  async claim(owner: MemoryOwner, seen: number, pending: PendingWrite): Promise<boolean> {
    const { project, tenant, user } = owner
    const row = await this.#row(owner)
    if (row === null) {
      const data = { owner: ownerKey(owner), recent: [{ version: 1, ids: [] }], pending }
      return seen === 0 && (await this.#table.insert({ id: idOf(owner), project, tenant, user, data })) !== null
    }
    const waiting = (row.data.waiting ?? []).filter(({ at_ms }) => Math.abs(this.#now() - at_ms) < turnMs)
    const [next = { process: this.#process }] = waiting
    const isTurn = next.process === this.#process && !isPending(row) && isUnchanged(row, seen)
    const others = waiting.filter(({ process }) => process !== this.#process)
    if (isTurn) return this.#enter(row, { pending, waiting: others })
    const own = waiting.find(({ process }) => process === this.#process)
    if (own !== undefined && this.#now() - own.at_ms < turnMs / 2) return false
    const again = { process: this.#process, at_ms: this.#now() }
    const queue = own === undefined ? [...waiting, again] : waiting.map((each) => (each === own ? again : each))
    await this.#enter(row, { waiting: queue })
    return false
  }

  /** @returns whether it was written; false when another change came first. */
  async #enter(row: Row<MemoryChangesData>, fields: Pick<MemoryChangesData, 'pending' | 'waiting'>): Promise<boolean> {
    const recent = after(row.data.recent, { version: row.version + 1, ids: [] })
    return (await this.#table.replace(row, { ...row.data, ...fields, recent })) !== null
  }

  /**
   * Takes over a write whose process seems to have died, under a new token.
   *
   * @returns the write; null when it was carried out or taken over meanwhile. @throws {StoreUnavailable}
   */
  async takeOver(owner: MemoryOwner, token: string, next: PendingWrite): Promise<PendingWrite | null> {
    const row = await this.#row(owner)
    if (row === null || row.data.pending?.token !== token) return null
    return (await this.#enter(row, { pending: next })) ? next : null
  }

  /** Announces a claimed write that has been carried out. @returns the version number of this change. */
  carriedOut(owner: MemoryOwner, token: string, ids: readonly string[]): Promise<number> {
    return this.#change(owner, ids, (pending) => (pending?.token === token ? null : pending))
  }

  /** Returns the changes after version `seen`; null when there are none. @throws {StoreUnavailable} */
  async since(owner: MemoryOwner, seen: number): Promise<ChangesSince | null> {
    const row = await this.#row(owner)
    // it was removed with the user's memories, and begins anew
    if (row === null) return seen === 0 ? null : { version: 0, ids: null, pending: null }
    const pending = row.data.pending ?? null
    if (row.version === seen && pending === null) return null
    const missed = row.data.recent.filter(({ version }) => version > seen)
    const whole = missed.length === row.version - seen
    return { version: row.version, ids: whole ? [...new Set(missed.flatMap(({ ids }) => ids))] : null, pending }
  }

  async #change(
    owner: MemoryOwner,
    ids: readonly string[],
    next: (pending: PendingWrite | null) => PendingWrite | null,
  ): Promise<number> {
    const { project, tenant, user } = owner
    const id = idOf(owner)
    const noted = (version: number, before: Recent): Recent =>
      ids.length > maxIds ? [] : after(before, { version, ids: [...ids] })
    for (;;) {
      const changed = await this.#table.change(projectScope(project), id, {
        edit: ({ version, data }) => ({
          ...data,
          recent: noted(version + 1, data.recent),
          pending: next(data.pending ?? null),
        }),
      })
      if (changed !== null) return changed.version
      const data = { owner: ownerKey(owner), recent: noted(1, []) }
      const made = await this.#table.insert({ id, project, tenant, user, data })
      if (made !== null) return made.version
    }
  }

  #row(owner: MemoryOwner): Promise<Row<MemoryChangesData> | null> {
    return this.#table.get(projectScope(owner.project), idOf(owner))
  }
}

const idOf = (owner: MemoryOwner): string => derivedId('mch', 1, `${owner.project} ${ownerKey(owner)}`)

const after = (before: Recent, change: Recent[number]): Recent => [...before, change].slice(-max)

/** Whether no memory has changed since version `seen`: changes without ids are those of who waits. */
const isUnchanged = ({ version, data }: Row<MemoryChangesData>, seen: number): boolean => {
  const missed = data.recent.filter((change) => change.version > seen)
  return missed.length === version - seen && missed.every(({ ids }) => ids.length === 0)
}

const isPending = ({ data }: Row<MemoryChangesData>): boolean => (data.pending ?? null) !== null
