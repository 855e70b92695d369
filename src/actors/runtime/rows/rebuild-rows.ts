import { isDeepStrictEqual } from 'node:util'
import type { MachineDefinition } from '#machines/definition.ts'
import type { Commit, RecordKind, Storage, StoredRecord } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { readActor } from '../activation.ts'
import { type Clock, pause } from '../clock.ts'
import type { Ledger, LedgerRow } from '../log/ledger.ts'
import type { Resident } from '../resident.ts'
import type { Owner } from '../step/actor-state.ts'
import { rowRecord } from './actor-row.ts'

/** Options and dependencies of `rebuildRows`. */
export interface RebuildParts {
  readonly storage: Storage
  readonly definitions: readonly MachineDefinition[]
  /** The record kind of each machine's list rows, by machine name. */
  readonly rows: Readonly<Record<string, RecordKind>>
  readonly ledger: Ledger
  readonly clock: Clock
  /** Only reports differences, without writing. */
  readonly checkOnly?: boolean
}

/** A row that differs from the commits. `left_over`: its actor does not exist, or should no longer have a row. */
export interface RowDifference {
  readonly kind: string
  readonly id: string
  readonly what: 'missing' | 'other' | 'left_over'
}

/** Result of a rebuild. */
export interface RebuildReport {
  readonly actors: number
  readonly commits: number
  /** Number of rows that follow from commits and were compared. */
  readonly compared: number
  readonly differences: readonly RowDifference[]
  /** Ids of actors that are parked or cannot be restored: their list rows were not compared. */
  readonly unreadable: readonly string[]
}

/** A row and its expected content; `wanted` is null when it must not exist. */
interface Expectation {
  readonly kind: RecordKind
  readonly project: string
  readonly id: string
  readonly wanted: StoredRecord | null
}

/** Time in which a concurrently running server writes the rows of what it has just committed, in ms. */
const settleMs = 2000
const pageSize = 200
/** Number of logs compared at once: more would wait for the store's connections, and fail on a busy machine. */
const atOnce = 8
/** Maximum attempts per row: a concurrently running server may commit for an actor between two reads. */
const attempts = 5

/**
 * Compares every list row and ledger row with what follows from the commits, and writes those that differ. Ledger rows
 * that no commit explains are left alone, since other writers create such rows too. A difference counts only when it is
 * still there after a moment, so a rebuild may run alongside servers (specs/decisions/0004-projections.md).
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

/** A row that differed at the first comparison; `again` recomputes what it has to be. */
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

  /** Checks that the rows that follow from commits exist. One page of commits is in memory at a time. */
  async compareCommits(): Promise<void> {
    let last: Commit | null = null
    for (;;) {
      const page: readonly Commit[] = await this.#parts.storage.commits.ofProject(null, last, pageSize)
      const before = last?.actor
      const logs = [...Map.groupBy(page, ({ actor }) => actor)]
      for (let first = 0; first < logs.length; first += atOnce) {
        const some = logs.slice(first, first + atOnce)
        await Promise.all(some.map(([actor, commits]) => this.#compareLog(actor, commits, actor !== before)))
      }
      last = page.at(-1) ?? null
      if (last === null) return
    }
  }

  /** Checks that no list row exists without its actor. */
  async compareRows(): Promise<void> {
    for (const project of this.#projects) {
      for (const kind of Object.values(this.#parts.rows)) await this.#compareKind(kind, project)
    }
  }

  /** Compares once more, and writes the row if it still differs. @returns the difference; null when there was none. */
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

  /** Expected list row of an actor; null when nothing can be said about it. */
  #rowFor(resident: Resident | null): Expectation | null {
    if (resident === null || resident.parked !== undefined) return null
    const kind = this.#parts.rows[resident.definition.name]
    if (kind === undefined) return null
    const row = rowRecord(resident)
    return { kind, project: row.project, id: row.id, wanted: row.expires_at === null ? row : null }
  }

  /**
   * Expected ledger row. When a user is erased, the reference to the user is removed from rows first, which stay for
   * the tenant's invoice, and from commits a moment later: such a row is expected as it is.
   */
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
    // a row is replaced only by one with a higher version
    if (stored !== null && (wanted === null || stored.version >= wanted.version)) {
      await records.remove(kind, projectScope(project), id)
    }
    if (wanted !== null) await records.project([{ kind, record: wanted }])
  }
}

/**
 * Whether two rows are equal apart from version and time: a fence is a commit that changes nothing, and the row may be
 * that of the commit before it.
 */
const isSame = (stored: StoredRecord, wanted: StoredRecord): boolean =>
  isDeepStrictEqual(comparable(stored), comparable(wanted))

const comparable = ({ version: _version, updated_at: _updatedAt, ...row }: StoredRecord) => ({
  ...row,
  data: { ...row.data, updated_at: null },
})
