import { sessionRows } from '#actors/sessions/kinds.ts'
import type { Commit, DueQuery, RecordKind, RecordQuery, StoredLogEvent, StoredRecord } from '#storage/ports.ts'
import type { Scope } from '#storage/scope.ts'
import { listName, type Total, Totals } from '#storage/totals.ts'
import { MemoryCommits } from '#test/support/memory/commits.ts'
import { MemoryRecords } from '#test/support/memory/records.ts'
import type { RestingSessions } from './resting.ts'

/** Commits in memory, beside those of sessions at rest: none of these is open, and one is written when it is read or due. */
export class RestingCommits extends MemoryCommits {
  readonly #resting: RestingSessions

  constructor(resting: RestingSessions) {
    super()
    this.#resting = resting
  }

  override async head(actor: string): Promise<Commit | null> {
    await this.#resting.write(actor)
    return super.head(actor)
  }

  override async at(actor: string, seq: number): Promise<Commit | null> {
    await this.#resting.write(actor)
    return super.at(actor, seq)
  }

  override async byCause(actor: string, cause: string): Promise<Commit | null> {
    await this.#resting.write(actor)
    return super.byCause(actor, cause)
  }

  override async ofActor(actor: string, after: number, limit: number): Promise<readonly Commit[]> {
    await this.#resting.write(actor)
    return super.ofActor(actor, after, limit)
  }

  override async events(actor: string, after: number, limit: number): Promise<readonly StoredLogEvent[]> {
    await this.#resting.write(actor)
    return super.events(actor, after, limit)
  }

  override async due(check: DueQuery): Promise<readonly Commit[]> {
    await this.#resting.writeDue(check.now)
    return super.due(check)
  }
}

type Where = RecordQuery['where']
type Rows = readonly { readonly kind: RecordKind; readonly record: StoredRecord }[]

const isSession = ({ name }: RecordKind): boolean => name === sessionRows.name

/** Records in memory, beside the rows of sessions at rest. Lists without a condition, newest first, find these too. */
export class RestingRecords extends MemoryRecords {
  readonly #resting: RestingSessions
  readonly #totals = new Totals()

  constructor(resting: RestingSessions, now: () => number) {
    super(now)
    this.#resting = resting
  }

  override async get(kind: RecordKind, scope: Scope, id: string): Promise<StoredRecord | null> {
    if (isSession(kind)) await this.#resting.write(id)
    return super.get(kind, scope, id)
  }

  override async project(rows: Rows): Promise<void> {
    for (const { kind, record } of rows) if (isSession(kind)) await this.#resting.write(record.id)
    await super.project(rows)
  }

  /** Writes the rows of sessions that are being written. */
  writeRows(rows: Rows): Promise<void> {
    return super.project(rows)
  }

  override async list(kind: RecordKind, scope: Scope, query: RecordQuery): Promise<readonly StoredRecord[]> {
    const { where = {}, after, ascending, skip = 0, limit } = query
    // the check of rows reads those that are written, the oldest first
    if (isSession(kind) && ascending !== true) {
      if (after !== undefined || Object.keys(where).length > 0) throw new Error('sessions at rest have no such list')
      await this.#resting.writeNewest(scope, skip + limit)
    }
    return super.list(kind, scope, query)
  }

  override async count(kind: RecordKind, scope: Scope, where?: Where): Promise<number> {
    return (await super.count(kind, scope, where)) + (isSession(kind) ? this.#resting.unwritten(scope) : 0)
  }

  override async total(kind: RecordKind, scope: Scope, where?: Where): Promise<Total> {
    const all = await this.count(kind, scope, where)
    return this.#totals.of(listName(kind, scope, where), async (limit) => Math.min(all, limit))
  }
}
