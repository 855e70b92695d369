import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Scope } from '#storage/scope.ts'
import { keyText } from '../commit-row.ts'
import { listIndexFor } from '../list-index.ts'
import type { Json, JsonObject, RecordKind, RecordQuery, RecordStore, StoredRecord } from '../ports.ts'
import { conditions, dueField, fieldText, indexedFields, ownerScope, uniqueKeyFor } from '../record-keys.ts'
import { listName, type Total, Totals } from '../totals.ts'
import { and, type Clause, inScope, type Value } from './clauses.ts'
import type { Database } from './database.ts'
import {
  columnOf,
  fillKeys,
  indexIn,
  keyColumn,
  kindIndexes,
  kindTable,
  outboxColumn,
  tableOf,
  textsOf,
} from './kind-table.ts'
import { listedRecord, numberIn, recordColumns, storedRecord, textIn, valuesIn } from './schema.ts'

/** Number of rows that are counted in one turn of the loop, which takes some 4 ms. */
const countedEach = 50_000

type Where = { readonly [field: string]: Json } | undefined

/** The statements that created a table and its indexes, by name; `table` is null when there is none. */
interface Made {
  readonly table: string | null
  readonly indexes: ReadonlyMap<string, string>
}

const absent: Made = { table: null, indexes: new Map() }

/** Records in SQLite: one table per kind, with indexes on expressions over the JSON of `data`. */
export class SqliteRecords implements RecordStore {
  readonly #db: Database
  readonly #now: () => number
  readonly #totals = new Totals()
  readonly #kinds = new Map<string, RecordKind>()

  /** @param now ms since the epoch; decides which records have expired. */
  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
  }

  /**
   * Runs in one transaction, because separate ones would each wait for the disk. What exists is read at once: SQLite reads
   * its whole list of tables and indexes for those of one table.
   */
  async prepare(kinds: readonly RecordKind[]): Promise<void> {
    for (const kind of kinds) this.#kinds.set(kind.name, kind)
    this.#db.together(() => {
      const made = this.#made()
      for (const kind of kinds) {
        const { table, indexes } = made.get(tableOf(kind)) ?? absent
        if (table === null) this.#db.exec(kindTable(kind))
        else if (table !== kindTable(kind)) this.#addColumns(kind)
        this.#index(kind, indexes, table === null)
      }
    })
  }

  /** The tables and indexes that exist, by table. */
  #made(): ReadonlyMap<string, Made> {
    const made = new Map<string, { table: string | null; readonly indexes: Map<string, string> }>()
    const text =
      "select type, name, tbl_name, sql from sqlite_schema where type in ('table', 'index') and sql is not null"
    for (const row of this.#db.read(() => this.#db.statement(text).all())) {
      const [table = '', name = '', sql = ''] = ['tbl_name', 'name', 'sql'].map((column) => textIn(row, column) ?? '')
      const known = made.get(table) ?? { table: null, indexes: new Map() }
      made.set(table, known)
      if (row.type === 'table') known.table = sql
      else known.indexes.set(name, sql)
    }
    return made
  }

  /** Adds columns to a table of another release. */
  #addColumns(kind: RecordKind): void {
    const has = this.#columnsOf(kind)
    if (!has.has('outbox')) this.#db.exec(outboxColumn(kind))
    for (const field of indexedFields(kind)) if (!has.has(columnOf(field))) this.#db.exec(keyColumn(kind, field))
  }

  /**
   * Creates indexes that are missing or whose declaration has changed, and drops those that are no longer declared. Such
   * a table may have been written by a release that leaves the columns of indexed fields as they were.
   */
  #index(kind: RecordKind, made: Made['indexes'], isNew: boolean): void {
    const wanted = kindIndexes(kind)
    for (const [name, sql] of made) if (wanted.get(name) !== sql) this.#db.exec(`drop index ${name}`)
    const missing = [...wanted].filter(([name, sql]) => made.get(name) !== sql)
    const fill = isNew || missing.length === 0 ? null : fillKeys(kind)
    if (fill !== null) this.#db.exec(fill)
    for (const [, sql] of missing) this.#db.exec(sql)
  }

  /** The kind as prepared: kinds of actors get fields in addition to those that their capability declares. */
  #declared(kind: RecordKind): RecordKind {
    return this.#kinds.get(kind.name) ?? kind
  }

  async get(kind: RecordKind, scope: Scope, id: string): Promise<StoredRecord | null> {
    return this.#one(kind, and([this.#live(), inScope(scope), { sql: 'id = ?', values: [id] }]))
  }

  async getMany(kind: RecordKind, scope: Scope, ids: readonly string[]): Promise<readonly StoredRecord[]> {
    if (ids.length === 0) return []
    const { sql, values } = and([this.#live(), inScope(scope)])
    // a cross join keeps its order: one table lookup per id
    const found = `select ${recordColumns} from ${tableOf(kind)}`
    const text = `select t.* from json_each(?) as wanted cross join (${found}) as t on t.id = wanted.value where ${sql}`
    return this.#db
      .read(() => this.#db.arrays(text).all(JSON.stringify([...new Set(ids)]), ...values))
      .map(listedRecord)
  }

  async find(kind: RecordKind, scope: Scope, key: JsonObject): Promise<StoredRecord | null> {
    return this.#one(kind, and([this.#live(), inScope(scope), keyed(kind, key, false)]))
  }

  async findGlobal(kind: RecordKind, key: JsonObject): Promise<StoredRecord | null> {
    return this.#one(kind, and([this.#live(), keyed(kind, key, true)]))
  }

  insert(kind: RecordKind, record: StoredRecord): Promise<'done' | 'exists'> {
    // a long record is serialised here, in another turn of the loop than the one in which SQLite writes
    const declared = this.#declared(kind)
    const values = valuesOf(declared, record)
    return this.#db.write(true, () => this.#insert(declared, values))
  }

  insertMany(kind: RecordKind, records: readonly StoredRecord[]): Promise<readonly ('done' | 'exists')[]> {
    return this.#db.write(true, () =>
      records.map((record) => this.#insert(this.#declared(kind), valuesOf(this.#declared(kind), record))),
    )
  }

  #insert(kind: RecordKind, values: Values): 'done' | 'exists' {
    const sql = `${textsOf(kind).insert} on conflict do nothing`
    const tryIt = () => this.#db.statement(sql).run(...values).changes === 1
    return tryIt() || (this.#drop(kind, this.#now()) > 0 && tryIt()) ? 'done' : 'exists'
  }

  replace(kind: RecordKind, record: StoredRecord): Promise<'done' | 'conflict' | 'missing'> {
    const [, ...changed] = textsOf(this.#declared(kind)).columns
    const set = changed.map((column) => `${column} = ?`).join(', ')
    const [id, ...rest] = valuesOf(this.#declared(kind), record)
    const live = this.#live()
    const sql = `update or ignore ${tableOf(kind)} set ${set} where id = ? and project = ? and version = ? and ${live.sql}`
    const where = [id, record.project, record.version - 1, ...live.values]
    const tryIt = () => this.#db.statement(sql).run(...rest, ...where).changes === 1
    return this.#db.write(true, () => {
      if (tryIt() || (this.#drop(kind, this.#now()) > 0 && tryIt())) return 'done'
      const stored = this.#db.statement(`select 1 from ${tableOf(kind)} where id = ? and project = ? and ${live.sql}`)
      return stored.get(record.id, record.project, ...live.values) ? 'conflict' : 'missing'
    })
  }

  remove(kind: RecordKind, scope: Scope, id: string): Promise<boolean> {
    const { sql, values } = and([this.#live(), inScope(scope), { sql: 'id = ?', values: [id] }])
    const text = `delete from ${tableOf(kind)} where ${sql}`
    return this.#db.remove(() => this.#db.statement(text).run(...values).changes === 1)
  }

  async list(kind: RecordKind, scope: Scope, query: RecordQuery): Promise<readonly StoredRecord[]> {
    const { sql, values } = listStatement(kind, scope, { query, now: this.#now() })
    return this.#db.read(() => this.#db.arrays(sql).all(...values)).map(listedRecord)
  }

  async count(kind: RecordKind, scope: Scope, where?: Where): Promise<number> {
    for (let [total, after] = [0, '']; ; await nextTurn()) {
      const { count, last } = this.#countTo(kind, scope, { where, after, limit: countedEach })
      total += count
      if (count < countedEach || last === null) return total
      after = last
    }
  }

  total(kind: RecordKind, scope: Scope, where?: Where): Promise<Total> {
    return this.#totals.of(
      listName(kind, scope, where),
      async (limit) => this.#countTo(kind, scope, { where, limit }).count,
    )
  }

  #countTo(
    kind: RecordKind,
    scope: Scope,
    { where, after = '', limit }: { readonly where: Where; readonly after?: string; readonly limit: number },
  ): { readonly count: number; readonly last: string | null } {
    const { sql, values } = and([
      this.#live(),
      inScope(scope),
      ...filtered(kind, where),
      { sql: 'id > ?', values: [after] },
    ])
    const found = `select id from ${listed(kind, scope, where)} where ${sql} order by id limit ?`
    const text = `select count(*) as n, max(id) as last from (${found})`
    const row = this.#db.read(() => this.#db.statement(text).get(...values, limit)) ?? {}
    return { count: numberIn(row, 'n') ?? 0, last: textIn(row, 'last') }
  }

  project(rows: readonly { readonly kind: RecordKind; readonly record: StoredRecord }[]): Promise<void> {
    return this.#db.write(false, () => {
      const errors: unknown[] = []
      for (const { kind, record } of rows) {
        try {
          this.#upsert(kind, record)
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length > 0) throw errors[0]
    })
  }

  async openOutboxes(kind: RecordKind, after: string | null, limit: number): Promise<readonly StoredRecord[]> {
    const isOpen = { sql: 'outbox is not null and id > ?', values: [after ?? ''] }
    return this.#first(kind, isOpen, { order: 'id', limit })
  }

  async withOpenOutboxes(kinds: readonly RecordKind[]): Promise<readonly RecordKind[]> {
    if (kinds.length === 0) return []
    const open = (kind: RecordKind, at: number): string =>
      `select ${at} as kind where exists (select 1 from ${tableOf(kind)} where outbox is not null)`
    const rows = this.#db.read(() => this.#db.statement(kinds.map(open).join(' union all ')).all())
    return kinds.filter((_, at) => rows.some(({ kind }) => kind === at))
  }

  async ofEveryProject(kind: RecordKind, after: string | null, limit: number): Promise<readonly StoredRecord[]> {
    return this.#first(kind, and([this.#live(), { sql: 'id > ?', values: [after ?? ''] }]), { order: 'id', limit })
  }

  async due(kind: RecordKind, at: string, limit: number): Promise<readonly StoredRecord[]> {
    const column = columnOf(dueField(kind))
    const isDue = { sql: `${column} <= ?`, values: [keyText(at)] }
    return this.#first(kind, and([isDue, this.#live()]), { order: column, limit })
  }

  #first(kind: RecordKind, { sql, values }: Clause, { order, limit }: { order: string; limit: number }) {
    const text = `select * from ${tableOf(kind)} where ${sql} order by ${order} limit ?`
    return this.#db.read(() => this.#db.statement(text).all(...values, limit)).map(storedRecord)
  }

  closeOutbox(
    kind: RecordKind,
    { id, project, version }: Pick<StoredRecord, 'id' | 'project' | 'version'>,
  ): Promise<boolean> {
    const stillOpen = 'id = ? and project = ? and version = ? and outbox is not null'
    const remove = `delete from ${tableOf(kind)} where ${stillOpen} and expires_at <= ?`
    const close = `update ${tableOf(kind)} set outbox = null where ${stillOpen}`
    return this.#db.write(false, () => {
      const removed = this.#db.statement(remove).run(id, project, version, this.#now()).changes === 1
      if (removed) this.#db.purgeSoon()
      return removed || this.#db.statement(close).run(id, project, version).changes === 1
    })
  }

  clear(kind: RecordKind, scope: Scope, limit: number): Promise<number> {
    const { sql, values } = inScope(ownerScope(scope))
    const owned = `select id from ${tableOf(kind)} where ${sql} and outbox is null limit ?`
    const text = `delete from ${tableOf(kind)} where id in (${owned})`
    return this.#db.remove(() => Number(this.#db.statement(text).run(...values, limit).changes))
  }

  async left(kind: RecordKind, scope: Scope): Promise<number> {
    const { sql, values } = inScope(ownerScope(scope))
    const text = `select count(*) as n from ${tableOf(kind)} where ${sql}`
    const row = this.#db.read(() => this.#db.statement(text).get(...values))
    return numberIn(row, 'n') ?? 0
  }

  sweep(kind: RecordKind, now: number, limit = -1): Promise<number> {
    return this.#db.write(false, () => {
      const removed = this.#drop(kind, now, limit)
      if (removed > 0) this.#db.purgeSoon()
      return removed
    })
  }

  /**
   * Writes a row if its version is lower. SQLite writes the indexes of all columns that a statement sets, whatever their
   * values, so only those that change are set.
   */
  #upsert(given: RecordKind, record: StoredRecord): void {
    const kind = this.#declared(given)
    const { columns, versionAt, insert, one, update } = textsOf(kind)
    const values = valuesOf(kind, record)
    const stored = this.#db.arrays(one).get(record.id)
    if (stored === undefined) {
      this.#db.statement(insert).run(...values)
      return
    }
    const before = valuesIn(stored)
    if (Number(before[versionAt]) >= record.version) return
    let text = update
    const changed: Value[] = []
    for (const [at, value] of values.entries()) {
      if (before[at] === value) continue
      text += `${changed.length === 0 ? '' : ', '}${columns[at]} = ?`
      changed.push(value)
    }
    this.#db.statement(`${text} where id = ?`).run(...changed, record.id)
  }

  #drop(kind: RecordKind, now: number, limit = -1): number {
    const gone = `select rowid from ${tableOf(kind)} where expires_at <= ? and outbox is null limit ?`
    const text = `delete from ${tableOf(kind)} where rowid in (${gone})`
    return Number(this.#db.statement(text).run(now, limit).changes)
  }

  #columnsOf(kind: RecordKind): ReadonlySet<string | null> {
    const text = `select name from pragma_table_info('${tableOf(kind)}')`
    return new Set(this.#db.read(() => this.#db.statement(text).all()).map((row) => textIn(row, 'name')))
  }

  #live(): Clause {
    return liveAt(this.#now())
  }

  #one(kind: RecordKind, { sql, values }: Clause): StoredRecord | null {
    const text = `select * from ${tableOf(kind)} where ${sql} limit 1`
    const raw = this.#db.read(() => this.#db.statement(text).get(...values))
    return raw ? storedRecord(raw) : null
  }
}

const liveAt = (now: number): Clause => ({ sql: '(expires_at is null or expires_at > ?)', values: [now] })

/** The statement of a list, which reads its index alone, in order. */
export const listStatement = (
  kind: RecordKind,
  scope: Scope,
  { query, now }: { readonly query: RecordQuery; readonly now: number },
): Clause => {
  const { where, after, ascending = false, skip = 0, limit } = query
  const page = after === undefined ? [] : [{ sql: ascending ? 'id > ?' : 'id < ?', values: [after] }]
  const { sql, values } = and([liveAt(now), inScope(scope), ...filtered(kind, where), ...page])
  const order = `order by id ${ascending ? 'asc' : 'desc'} limit ? offset ?`
  const text = `select ${recordColumns} from ${listed(kind, scope, where)} where ${sql} ${order}`
  return { sql: text, values: [...values, limit, skip] }
}

type Values = readonly [string, ...Value[]]

const valuesOf = (kind: RecordKind, r: StoredRecord): Values => [
  r.id,
  r.project,
  r.tenant,
  r.user,
  r.version,
  r.created_at,
  r.updated_at,
  r.expires_at,
  JSON.stringify(r.data),
  r.outbox === undefined ? null : JSON.stringify(r.outbox),
  ...indexedFields(kind).map((field) => fieldText(r.data, field)),
]

const keyed = (kind: RecordKind, key: JsonObject, onlyGlobal: boolean): Clause =>
  and(
    uniqueKeyFor(kind, key, onlyGlobal).fields.map((field) => ({
      sql: `${columnOf(field)} = ?`,
      values: [fieldText(key, field)],
    })),
  )

/** The table of a kind with the index that a list needs: without statistics, SQLite chose another one. */
const listed = (kind: RecordKind, scope: Scope, where: Where): string => {
  const index = listIndexFor(kind, scope, where)
  return index === null ? tableOf(kind) : `${tableOf(kind)} indexed by ${indexIn(kind, index.name)}`
}

const filtered = (kind: RecordKind, where: Where): readonly Clause[] =>
  conditions(kind, where).map(([field, text]) =>
    text === null
      ? { sql: `${columnOf(field)} is null`, values: [] }
      : { sql: `${columnOf(field)} = ?`, values: [text] },
  )
