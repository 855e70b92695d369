import { listIndexFor } from '#storage/list-index.ts'
import type { Json, JsonObject, RecordKind, RecordQuery, RecordStore, StoredRecord } from '#storage/ports.ts'
import { conditions, dueField, fieldText, ownerScope, uniqueKeyFor, uniqueText } from '#storage/record-keys.ts'
import { covers, type Scope } from '#storage/scope.ts'
import { exactly, type Total } from '#storage/totals.ts'

type Where = { readonly [field: string]: Json } | undefined

/** Records in memory, for pure tests. */
export class MemoryRecords implements RecordStore {
  readonly #kinds = new Map<string, Map<string, StoredRecord>>()
  readonly #now: () => number

  /** @param now clock in ms since the epoch, for the expiry of records. */
  constructor(now: () => number) {
    this.#now = now
  }

  async prepare(kinds: readonly RecordKind[]): Promise<void> {
    for (const kind of kinds) this.#rows(kind)
  }

  async get(kind: RecordKind, scope: Scope, id: string): Promise<StoredRecord | null> {
    const record = this.#rows(kind).get(id)
    return record && this.#live(record) && covers(scope, record) ? structuredClone(record) : null
  }

  async getMany(kind: RecordKind, scope: Scope, ids: readonly string[]): Promise<readonly StoredRecord[]> {
    const found = await Promise.all([...new Set(ids)].map((id) => this.get(kind, scope, id)))
    return found.filter((record) => record !== null)
  }

  async find(kind: RecordKind, scope: Scope, key: JsonObject): Promise<StoredRecord | null> {
    const unique = uniqueKeyFor(kind, key, false)
    const text = uniqueText(unique, scope.project, key)
    return this.#seen(
      kind,
      (record) => covers(scope, record) && uniqueText(unique, record.project, record.data) === text,
    )
  }

  async findGlobal(kind: RecordKind, key: JsonObject): Promise<StoredRecord | null> {
    const unique = uniqueKeyFor(kind, key, true)
    const text = uniqueText(unique, '', key)
    return this.#seen(kind, (record) => uniqueText(unique, '', record.data) === text)
  }

  async insert(kind: RecordKind, record: StoredRecord): Promise<'done' | 'exists'> {
    await this.sweep(kind, this.#now())
    if (this.#rows(kind).has(record.id) || this.#taken(kind, record)) return 'exists'
    this.#rows(kind).set(record.id, structuredClone(record))
    return 'done'
  }

  async insertMany(kind: RecordKind, records: readonly StoredRecord[]): Promise<readonly ('done' | 'exists')[]> {
    const outcomes: ('done' | 'exists')[] = []
    for (const record of records) outcomes.push(await this.insert(kind, record))
    return outcomes
  }

  async replace(kind: RecordKind, record: StoredRecord): Promise<'done' | 'conflict' | 'missing'> {
    await this.sweep(kind, this.#now())
    const stored = this.#rows(kind).get(record.id)
    if (stored?.project !== record.project || !this.#live(stored)) return 'missing'
    if (stored.version !== record.version - 1 || this.#taken(kind, record)) return 'conflict'
    this.#rows(kind).set(record.id, structuredClone(record))
    return 'done'
  }

  async remove(kind: RecordKind, scope: Scope, id: string): Promise<boolean> {
    return (await this.get(kind, scope, id)) !== null && this.#rows(kind).delete(id)
  }

  async list(kind: RecordKind, scope: Scope, query: RecordQuery): Promise<readonly StoredRecord[]> {
    const { after, ascending = false, skip = 0, limit } = query
    const sign = ascending ? 1 : -1
    const rows = this.#matching(kind, scope, query.where)
      .filter((record) => after === undefined || (ascending ? record.id > after : record.id < after))
      .sort((a, b) => (a.id < b.id ? -sign : sign))
    return structuredClone(rows.slice(skip, skip + limit))
  }

  async count(kind: RecordKind, scope: Scope, where?: Where): Promise<number> {
    return this.#matching(kind, scope, where).length
  }

  async total(kind: RecordKind, scope: Scope, where?: Where): Promise<Total> {
    return exactly(await this.count(kind, scope, where))
  }

  async project(rows: readonly { readonly kind: RecordKind; readonly record: StoredRecord }[]): Promise<void> {
    for (const { kind, record } of rows) {
      const stored = this.#rows(kind).get(record.id)
      if (stored && stored.version >= record.version) continue
      if (this.#taken(kind, record)) throw new Error(`${kind.name} ${record.id} breaks a unique key`)
      this.#rows(kind).set(record.id, structuredClone(record))
    }
  }

  async openOutboxes(kind: RecordKind, after: string | null, limit: number): Promise<readonly StoredRecord[]> {
    const open = [...this.#rows(kind).values()]
      .filter(({ id, outbox }) => outbox !== undefined && (after === null || id > after))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
    return structuredClone(open.slice(0, limit))
  }

  async withOpenOutboxes(kinds: readonly RecordKind[]): Promise<readonly RecordKind[]> {
    return kinds.filter((kind) => [...this.#rows(kind).values()].some(({ outbox }) => outbox !== undefined))
  }

  async ofEveryProject(kind: RecordKind, after: string | null, limit: number): Promise<readonly StoredRecord[]> {
    const found = [...this.#rows(kind).values()]
      .filter((record) => this.#live(record) && (after === null || record.id > after))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
    return structuredClone(found.slice(0, limit))
  }

  async due(kind: RecordKind, at: string, limit: number): Promise<readonly StoredRecord[]> {
    const field = dueField(kind)
    const timeOf = ({ data }: StoredRecord): string => fieldText(data, field) ?? ''
    const found = [...this.#rows(kind).values()]
      .filter((record) => this.#live(record) && timeOf(record) !== '' && timeOf(record) <= JSON.stringify(at))
      .sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1))
    return structuredClone(found.slice(0, limit))
  }

  async closeOutbox(
    kind: RecordKind,
    { id, project, version }: Pick<StoredRecord, 'id' | 'project' | 'version'>,
  ): Promise<boolean> {
    const stored = this.#rows(kind).get(id)
    if (stored?.project !== project || stored.version !== version || stored.outbox === undefined) return false
    const { outbox: _delivered, ...rest } = stored
    if (this.#live(rest)) this.#rows(kind).set(id, rest)
    else this.#rows(kind).delete(id)
    return true
  }

  async clear(kind: RecordKind, scope: Scope, limit: number): Promise<number> {
    const gone = this.#owned(kind, scope).filter(({ outbox }) => outbox === undefined)
    for (const { id } of gone.slice(0, limit)) this.#rows(kind).delete(id)
    return Math.min(gone.length, limit)
  }

  async left(kind: RecordKind, scope: Scope): Promise<number> {
    return this.#owned(kind, scope).length
  }

  async sweep(kind: RecordKind, now: number, limit = Number.POSITIVE_INFINITY): Promise<number> {
    const gone = [...this.#rows(kind).values()].filter(
      ({ expires_at, outbox }) => expires_at !== null && expires_at <= now && outbox === undefined,
    )
    const some = gone.slice(0, limit)
    for (const { id } of some) this.#rows(kind).delete(id)
    return some.length
  }

  #owned(kind: RecordKind, scope: Scope): StoredRecord[] {
    const owner = ownerScope(scope)
    return [...this.#rows(kind).values()].filter((record) => covers(owner, record))
  }

  #rows({ name }: RecordKind): Map<string, StoredRecord> {
    const rows = this.#kinds.get(name) ?? new Map<string, StoredRecord>()
    this.#kinds.set(name, rows)
    return rows
  }

  #seen(kind: RecordKind, matches: (record: StoredRecord) => boolean): StoredRecord | null {
    for (const record of this.#rows(kind).values()) {
      if (this.#live(record) && matches(record)) return structuredClone(record)
    }
    return null
  }

  #live({ expires_at }: StoredRecord): boolean {
    return expires_at === null || expires_at > this.#now()
  }

  #matching(kind: RecordKind, scope: Scope, where: Where): StoredRecord[] {
    const wanted = conditions(kind, where)
    listIndexFor(kind, scope, where)
    return [...this.#rows(kind).values()].filter(
      (record) =>
        this.#live(record) &&
        covers(scope, record) &&
        wanted.every(([field, text]) => fieldText(record.data, field) === text),
    )
  }

  #taken(kind: RecordKind, record: StoredRecord): boolean {
    return (kind.unique ?? []).some((unique) => {
      const text = uniqueText(unique, record.project, record.data)
      if (text === null) return false
      for (const other of this.#rows(kind).values()) {
        if (other.id !== record.id && uniqueText(unique, other.project, other.data) === text) return true
      }
      return false
    })
  }
}
