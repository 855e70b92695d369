import { isDeepStrictEqual } from 'node:util'
import type { MachineDefinition } from '#machines/definition.ts'
import { projectScope } from '#specs/scope.ts'
import type { Commit, RecordKind, Storage, StoredRecord } from '#storage/ports.ts'
import { readActor } from '../activation.ts'
import { type Clock, pause } from '../clock.ts'
import type { Ledger, LedgerRow } from '../log/ledger.ts'
import type { Resident } from '../resident.ts'
import type { Owner } from '../step/actor-state.ts'
import { rowRecord } from './actor-row.ts'

/** What rows are made of again. */
export interface RebuildParts {
  readonly storage: Storage
  readonly definitions: readonly MachineDefinition[]
  /** The record kind of each machine's list rows, by machine name. */
  readonly rows: Readonly<Record<string, RecordKind>>
  readonly ledger: Ledger
  readonly clock: Clock
  /** Only says what differs. */
  readonly checkOnly?: boolean
}

/** One row that is not what follows from the commits. `left_over`: nothing of its actor is there, or the actor has no row any more. */
export interface RowDifference {
  readonly kind: string
  readonly id: string
  readonly what: 'missing' | 'other' | 'left_over'
}

/** What a rebuild has found. */
export interface RebuildReport {
  readonly actors: number
  readonly commits: number
  /** Rows that follow from commits, and were compared. */
  readonly compared: number
  readonly differences: readonly RowDifference[]
  /** Actors that cannot be restored, so nothing is known of their rows. */
  readonly unreadable: readonly string[]
}

/** Where a row is, and what it has to be; `wanted` null: it must not be there. */
interface Expectation {
  readonly kind: RecordKind
  readonly project: string
  readonly id: string
  readonly wanted: StoredRecord | null
}

/** Enough for a server that runs beside to write the rows of what it has just committed, in ms. */
const settleMs = 2000
const pageSize = 200
/** A server beside may move an actor on between two looks. */
const attempts = 5

/**
 * Compares every row of lists and of ledgers with what follows from the commits, and writes what differs. Rows of ledgers that
 * no commit explains stay: other writers make such rows too. A difference counts only when it is still there after a moment,
 * so it may run beside servers (specs/decisions/0099-rows-that-last.md).
 *
 * @throws {StoreUnavailable}
 */
export const rebuildRows = async (parts: RebuildParts): Promise<RebuildReport> => {
  const rebuild = new Rebuild(parts)
  await rebuild.compareCommits()
  await rebuild.compareRows()
  if (rebuild.doubtful.length > 0) await pause(parts.clock, settleMs)
  const differences: RowDifference[] = []
  for (const doubt of rebuild.doubtful) {
    const difference = await rebuild.mend(doubt)
    if (difference !== null) differences.push(difference)
  }
  const { actors, commits, compared, unreadable } = rebuild
  return { actors, commits, compared, differences, unreadable }
}

/** A row that differed at the first look; `again` says anew what it has to be. */
interface Doubt {
  readonly again: () => Promise<Expectation | null>
}

class Rebuild {
  actors = 0
  commits = 0
  compared = 0
  readonly unreadable: string[] = []
  readonly doubtful: Doubt[] = []
  readonly #parts: RebuildParts
  readonly #projects = new Set<string>()

  constructor(parts: RebuildParts) {
    this.#parts = parts
  }

  /** What follows from commits is there. One page of commits is in memory at a time. */
  async compareCommits(): Promise<void> {
    let last: Commit | null = null
    for (;;) {
      const page: readonly Commit[] = await this.#parts.storage.commits.ofProject(null, last, pageSize)
      const before = last?.actor
      const logs = [...Map.groupBy(page, ({ actor }) => actor)]
      await Promise.all(logs.map(([actor, commits]) => this.#compareLog(actor, commits, actor !== before)))
      last = page.at(-1) ?? null
      if (last === null) return
    }
  }

  /** No list row is there without its actor. */
  async compareRows(): Promise<void> {
    for (const project of this.#projects) {
      for (const kind of Object.values(this.#parts.rows)) await this.#compareKind(kind, project)
    }
  }

  /** Looks once more, and writes what is still not as it has to be. @returns what differed; null when nothing did. */
  async mend({ again }: Doubt): Promise<RowDifference | null> {
    let found: RowDifference | null = null
    for (let attempt = 0; attempt < attempts; attempt++) {
      const expected = await again()
      const difference = expected && (await this.#differenceOf(expected))
      if (!expected || !difference) return found
      found ??= difference
      if (this.#parts.checkOnly) return found
      await this.#write(expected)
    }
    return found
  }

  /** @param isFirst whether no earlier page had commits of this actor. */
  async #compareLog(actor: string, commits: readonly Commit[], isFirst: boolean): Promise<void> {
    const resident = await readActor(this.#parts, actor)
    if (isFirst) {
      this.actors++
      if (resident?.parked !== undefined) this.unreadable.push(actor)
      if (resident !== null) {
        this.#projects.add(resident.owner.project)
        await this.#compare(this.#rowFor(resident), async () => this.#rowFor(await readActor(this.#parts, actor)))
      }
    }
    this.commits += commits.length
    if (resident !== null) for (const commit of commits) await this.#compareLedger(commit, resident.owner)
  }

  async #compareLedger(commit: Commit, owner: Owner): Promise<void> {
    for (const row of this.#parts.ledger(commit, owner)) {
      const again = async () => ((await this.#isThere(commit)) ? this.#ledgerRow(row) : null)
      await this.#compare(await this.#ledgerRow(row), again)
    }
  }

  async #compare(expected: Expectation | null, again: Doubt['again']): Promise<void> {
    if (expected === null) return
    this.compared++
    if ((await this.#differenceOf(expected)) !== null) this.doubtful.push({ again })
  }

  async #compareKind(kind: RecordKind, project: string): Promise<void> {
    let after: string | undefined
    for (;;) {
      const query = { limit: pageSize, ascending: true, ...(after !== undefined && { after }) }
      const page: readonly StoredRecord[] = await this.#parts.storage.records.list(kind, projectScope(project), query)
      for (const { id } of page) {
        const again = async (): Promise<Expectation | null> =>
          (await this.#parts.storage.commits.head(id)) === null ? { kind, project, id, wanted: null } : null
        if ((await again()) !== null) this.doubtful.push({ again })
      }
      after = page.at(-1)?.id
      if (after === undefined) return
    }
  }

  /** What the list row of an actor has to be; null when nothing can be said about it. */
  #rowFor(resident: Resident | null): Expectation | null {
    if (resident === null || resident.parked !== undefined) return null
    const kind = this.#parts.rows[resident.definition.name]
    if (kind === undefined) return null
    const row = rowRecord(resident)
    return { kind, project: row.project, id: row.id, wanted: row.expires_at === null ? row : null }
  }

  /** A user who is being forgotten goes from rows first, which stay for the tenant's invoice, and from commits a moment later. */
  async #ledgerRow({ kind, record }: LedgerRow): Promise<Expectation> {
    const { id, project } = record
    const stored = await this.#parts.storage.records.get(kind, projectScope(project), id)
    const isForgotten = stored !== null && stored.user === null && record.user !== null
    return { kind, project, id, wanted: isForgotten ? stored : record }
  }

  async #isThere({ actor, seq }: Commit): Promise<boolean> {
    return (await this.#parts.storage.commits.at(actor, seq)) !== null
  }

  async #differenceOf({ kind, project, id, wanted }: Expectation): Promise<RowDifference | null> {
    const stored = await this.#parts.storage.records.get(kind, projectScope(project), id)
    if (wanted === null) return stored === null ? null : { kind: kind.name, id, what: 'left_over' }
    if (stored === null) return { kind: kind.name, id, what: 'missing' }
    return isSame(stored, wanted) ? null : { kind: kind.name, id, what: 'other' }
  }

  async #write({ kind, project, id, wanted }: Expectation): Promise<void> {
    const { records } = this.#parts.storage
    const stored = await records.get(kind, projectScope(project), id)
    // a row is replaced by a higher version only
    if (stored !== null && (wanted === null || stored.version >= wanted.version)) {
      await records.remove(kind, projectScope(project), id)
    }
    if (wanted !== null) await records.project([{ kind, record: wanted }])
  }
}

/** A fence is a commit that changes nothing: version and time of a row may be those of the commit before. */
const isSame = (stored: StoredRecord, wanted: StoredRecord): boolean =>
  isDeepStrictEqual(comparable(stored), comparable(wanted))

const comparable = ({ version: _version, updated_at: _updatedAt, ...row }: StoredRecord) => ({
  ...row,
  data: { ...row.data, updated_at: null },
})
