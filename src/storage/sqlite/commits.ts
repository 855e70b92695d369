import { type CommitRow, EventPage, fromRow, replacesKey, toRow } from '../commit-row.ts'
import { endOf, isSettled, type Merge, mergedAtOnce, mergesOf, partsOf } from '../merged-parts.ts'
import {
  type AppendOutcome,
  type Commit,
  type CommitKey,
  type CommitStore,
  type DueQuery,
  type EffectParts,
  type MergeOutcome,
  type OpenCommit,
  type OpenQuery,
  type SettleWork,
  type StoredLogEvent,
  StoreUnavailable,
} from '../ports.ts'
import type { Database } from './database.ts'
import { commitRow, commitTable, numberIn, openCommit, partRow, type RawRow, textIn } from './schema.ts'

const insert = `insert into commits (actor, seq, shard, epoch, at, project, tenant, machine, cause, nonce, last_sequence,
  open, due, events, snapshot, body) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`

/** A position before every open commit. */
const first = { shard: 0, at: Number.MIN_SAFE_INTEGER, seq: 0 }

const inShards = 'shard in (select value from json_each(?))'

/** Commits in SQLite. Appends of one turn of the event loop share a transaction, each with its own outcome. */
export class SqliteCommits implements CommitStore {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
    db.exec(commitTable)
  }

  append(commits: readonly Commit[]): Promise<readonly AppendOutcome[]> {
    const rows = commits.map((commit) => ({ row: toRow(commit), replaces: commit.replaces ?? 0 }))
    return this.#db
      .write(true, () => rows.map(({ row, replaces }) => this.#insert(row, replaces)))
      .catch((error) => {
        if (error instanceof StoreUnavailable) return rows.map(() => 'unknown' as const)
        throw error
      })
  }

  #insert(c: CommitRow, replaces: number): AppendOutcome {
    if (this.#isReplaced(c)) return 'overtaken'
    // removed first: the commit gets their pages, which would be overwritten and written otherwise
    if (replaces > 0 && this.#isNew(c))
      this.#db
        .statement('delete from commits where actor = ? and seq >= ? and seq < ?')
        .run(c.actor, c.seq - replaces, c.seq)
    // biome-ignore format: one line a group of columns, in the order of the statement
    const { changes } = this.#db.statement(insert).run(
      c.actor, c.seq, c.shard, c.epoch, c.at, c.project, c.tenant, c.machine, c.cause, c.nonce, c.last_sequence,
      c.open ? 1 : 0, c.due, c.events, c.snapshot, c.body,
    )
    if (changes === 1) return 'done'
    return this.#get('select 1 from commits where actor = ? and seq = ?', c.actor, c.seq) ? 'overtaken' : 'duplicate'
  }

  /** Whether a later commit has replaced one with this key. */
  #isReplaced({ actor, seq }: CommitRow): boolean {
    const next = this.#get('select * from commits where actor = ? and seq > ? order by seq limit 1', actor, seq)
    return next !== undefined && replacesKey(fromRow(commitRow(next)), seq)
  }

  #isNew({ actor, seq, cause }: CommitRow): boolean {
    return (
      this.#get('select 1 from commits where actor = ? and (seq = ? or cause = ?)', actor, seq, cause) === undefined
    )
  }

  async head(actor: string): Promise<Commit | null> {
    return this.#one('select * from commits where actor = ? order by seq desc limit 1', actor)
  }

  async at(actor: string, seq: number): Promise<Commit | null> {
    return this.#one('select * from commits where actor = ? and seq = ?', actor, seq)
  }

  async byCause(actor: string, cause: string): Promise<Commit | null> {
    return this.#one('select * from commits where actor = ? and cause = ?', actor, cause)
  }

  async ofActor(actor: string, after: number, limit: number): Promise<readonly Commit[]> {
    return this.#all('select * from commits where actor = ? and seq > ? order by seq limit ?', actor, after, limit)
  }

  async events(actor: string, after: number, limit: number): Promise<readonly StoredLogEvent[]> {
    const page = new EventPage(after, limit)
    this.#db.read(() => {
      const rows = this.#db
        .statement('select events, at from commits where actor = ? and seq > ? and events is not null order by seq')
        .iterate(actor, this.#lastBefore(actor, after))
      for (const row of rows) {
        if (!page.take(textIn(row, 'events') ?? '[]', numberIn(row, 'at') ?? 0)) break
      }
    })
    return page.events
  }

  /**
   * Returns the highest seq whose commit, like its predecessors, has no events after `after`. Bisects the actor's seqs,
   * since last_sequence never decreases: an index on it would make each append a sixth slower.
   */
  #lastBefore(actor: string, after: number): number {
    if (after <= 0) return 0
    const newest = this.#get('select max(seq) as seq from commits where actor = ?', actor)
    let [low, high] = [0, numberIn(newest, 'seq') ?? 0]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      const probe = 'select last_sequence from commits where actor = ? and seq <= ? order by seq desc limit 1'
      const last = numberIn(this.#get(probe, actor, middle), 'last_sequence') ?? 0
      if (last <= after) low = middle
      else high = middle - 1
    }
    return low
  }

  async open({
    limit,
    shards,
    from = first,
    until = Number.MAX_SAFE_INTEGER,
  }: OpenQuery): Promise<readonly OpenCommit[]> {
    const place = [from.shard, from.at, from.seq, until]
    const within = `select actor, seq, shard, epoch, at from commits where open = 1 and (shard, at, seq) >= (?, ?, ?)
      and at <= ?`
    const tail = 'order by shard, at, seq limit ?'
    const rows = this.#db.read(() =>
      shards
        ? this.#db.statement(`${within} and +${inShards} ${tail}`).all(...place, JSON.stringify(shards), limit)
        : this.#db.statement(`${within} ${tail}`).all(...place, limit),
    )
    return rows.map(openCommit)
  }

  async due({ now, from = 0, limit, shards }: DueQuery): Promise<readonly Commit[]> {
    const within = 'select * from commits where due between ? and ?'
    const tail = 'order by due limit ?'
    return shards
      ? this.#all(`${within} and +${inShards} ${tail}`, from, now, JSON.stringify(shards), limit)
      : this.#all(`${within} ${tail}`, from, now, limit)
  }

  async ofProject(project: string | null, after: CommitKey | null, limit: number): Promise<readonly Commit[]> {
    const { actor, seq } = after ?? { actor: '', seq: 0 }
    const tail = '(actor, seq) > (?, ?) order by actor, seq limit ?'
    return project === null
      ? this.#all(`select * from commits where ${tail}`, actor, seq, limit)
      : this.#all(`select * from commits where project = ? and ${tail}`, project, actor, seq, limit)
  }

  settle({ close, undue, retire }: SettleWork): Promise<void> {
    return this.#db.write(false, () => {
      const work = [
        [close, 'update commits set open = 0 where actor = ? and seq = ?'],
        [undue, 'update commits set due = null where actor = ? and seq = ?'],
        [retire, 'update commits set open = 0, due = null, snapshot = null where actor = ? and seq = ?'],
      ] as const
      for (const [keys, sql] of work) {
        for (const { actor, seq } of keys) this.#db.statement(sql).run(actor, seq)
      }
    })
  }

  merge({ actor, effect, after, before, epoch }: EffectParts): Promise<MergeOutcome> {
    const newest = 'select epoch from commits where actor = ? order by seq desc limit 1'
    const between = `select seq, at, cause, events, open, due from commits
      where actor = ? and seq > ? and seq <= ? and events is not null order by seq limit ?`
    return this.#db.write(false, () => {
      if ((numberIn(this.#get(newest, actor), 'epoch') ?? 0) > epoch) return { kind: 'overtaken' }
      const rows = this.#db.statement(between).all(actor, after, before, mergedAtOnce).map(partRow)
      const parts = partsOf(rows, effect)
      if (!parts.every(isSettled)) return { kind: 'waits' }
      const removed = mergesOf(parts, { end: endOf(rows, before) }).map((merge) => this.#merge(actor, merge))
      const next = rows.length < mergedAtOnce ? null : (rows.at(-1)?.seq ?? null)
      return { kind: 'removed', commits: removed.reduce((sum, each) => sum + each, 0), next }
    })
  }

  #merge(actor: string, { into, events, parts }: Merge): number {
    const set = 'update commits set events = ?, snapshot = null where actor = ? and seq = ?'
    if (events !== null) this.#db.statement(set).run(events, actor, into.seq)
    const remove = this.#db.statement('delete from commits where actor = ? and seq = ?')
    for (const { seq } of parts) remove.run(actor, seq)
    return parts.length
  }

  async actorsOf(
    project: string,
    tenant: string | null,
    { after, limit }: { readonly after: string | null; readonly limit: number },
  ): Promise<readonly string[]> {
    const [ofTenant, values] = tenant === null ? ['', []] : ['tenant is not null and tenant = ? and ', [tenant]]
    const sql = `select actor from commits where seq = 1 and ${ofTenant}project = ? and actor > ? order by actor limit ?`
    const rows = this.#db.read(() => this.#db.statement(sql).all(...values, project, after ?? '', limit))
    return rows.map((row) => textIn(row, 'actor') ?? '')
  }

  forget(actor: string): Promise<void> {
    return this.#db.remove(() => void this.#db.statement('delete from commits where actor = ?').run(actor))
  }

  #get(sql: string, ...values: readonly (string | number)[]): RawRow | undefined {
    return this.#db.statement(sql).get(...values)
  }

  #one(sql: string, ...values: readonly (string | number)[]): Commit | null {
    const raw = this.#db.read(() => this.#get(sql, ...values))
    return raw ? fromRow(commitRow(raw)) : null
  }

  #all(sql: string, ...values: readonly (string | number)[]): readonly Commit[] {
    return this.#db.read(() => this.#db.statement(sql).all(...values)).map((raw) => fromRow(commitRow(raw)))
  }
}
