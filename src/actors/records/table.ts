import { ServiceError } from '#specs/errors/errors.ts'
import type { Json, JsonObject, RecordQuery, RecordStore, Scope, StoredRecord } from '#storage/index.ts'
import { type Notice, outboxOf } from './notices.ts'
import { RowTurns } from './row-turns.ts'
import { type KeyOf, type Row, rowOf, type TypedKind } from './schema.ts'

/** Content of a new row; the other fields are derived. */
export interface NewRow<T extends JsonObject> {
  readonly id: string
  readonly project: string
  readonly tenant?: string | null
  readonly user?: string | null
  /** ms since the epoch; null or absent for never. */
  readonly expiresAtMs?: number | null
  readonly data: T
  /** Notices of its creation; only in kinds with `outbox`. */
  readonly notices?: readonly Notice[]
}

/** The notices of a change. */
export type NoticesOf<T extends JsonObject> = (next: Row<T>, before: Row<T>) => readonly Notice[]

/** A change of a row: the new data, null to leave it as it is, and the notices of the change. */
export interface Change<T extends JsonObject> {
  readonly edit: (row: Row<T>) => T | null
  readonly notices?: NoticesOf<T> | undefined
}

/** Attempts under optimistic locking before a change fails; in each round at least one writer succeeds. */
const maxTries = 100
const pageSize = 100

/** Typed access to the records of one kind. */
export class Table<T extends JsonObject> {
  readonly #records: RecordStore
  readonly #kind: TypedKind<T>
  readonly #now: () => number
  readonly #turns: RowTurns

  constructor(records: RecordStore, kind: TypedKind<T>, now: () => number) {
    this.#records = records
    this.#kind = kind
    this.#now = now
    this.#turns = RowTurns.at(records)
  }

  async get(scope: Scope, id: string): Promise<Row<T> | null> {
    return this.#row(await this.#records.get(this.#kind, scope, id))
  }

  /** Returns the existing rows among these ids, by id, with one read. */
  async getMany(scope: Scope, ids: readonly string[]): Promise<ReadonlyMap<string, Row<T>>> {
    const records = await this.#records.getMany(this.#kind, scope, ids)
    return new Map(records.map((record) => [record.id, rowOf(this.#kind, record)]))
  }

  async find(scope: Scope, key: KeyOf<T>): Promise<Row<T> | null> {
    return this.#row(await this.#records.find(this.#kind, scope, key))
  }

  /** Finds a row in any project; for credentials only. */
  async findGlobal(key: KeyOf<T>): Promise<Row<T> | null> {
    return this.#row(await this.#records.findGlobal(this.#kind, key))
  }

  /** @returns null when the id or a unique key is taken; nothing is written then. */
  async insert(row: NewRow<T>): Promise<Row<T> | null> {
    const now = this.#now()
    const record: Row<T> = {
      id: row.id,
      project: row.project,
      tenant: row.tenant ?? null,
      user: row.user ?? null,
      version: 1,
      created_at: now,
      updated_at: now,
      expires_at: row.expiresAtMs ?? null,
      data: row.data,
    }
    const stored = this.#withNotices(record, undefined, { notices: row.notices ?? [] })
    return (await this.#records.insert(this.#kind, stored)) === 'done' ? stored : null
  }

  /**
   * Replaces the data of `row` if no other writer has changed it since it was read.
   *
   * @param notices the notices of the change; undelivered ones of earlier changes are kept.
   * @returns null when another writer changed it, when a unique key is taken, or when the row is gone.
   */
  async replace(
    row: Row<T>,
    data: T,
    {
      expiresAtMs = row.expires_at,
      notices,
    }: { readonly expiresAtMs?: number | null; readonly notices?: NoticesOf<T> | undefined } = {},
  ): Promise<Row<T> | null> {
    const changed = { ...row, data, version: row.version + 1, updated_at: this.#now(), expires_at: expiresAtMs }
    const next = this.#withNotices(changed, row, { notices: notices?.(changed, row) ?? [] })
    return (await this.#records.replace(this.#kind, next)) === 'done' ? next : null
  }

  /**
   * Applies `edit` to the row's newest state, retrying when another writer changes it at the same time.
   *
   * @param edit returns the new data, or null to leave the row as it is.
   * @param notices the notices of the change.
   * @returns null when there is no such row.
   * @throws {ServiceError} `version_conflict` when every attempt lost to another writer.
   */
  async change(scope: Scope, id: string, change: Change<T>): Promise<Row<T> | null> {
    return this.#turns.take(`${this.#kind.name}/${id}`, () => this.#changed(scope, id, change))
  }

  async #changed(scope: Scope, id: string, { edit, notices }: Change<T>): Promise<Row<T> | null> {
    for (let tried = 0; tried < maxTries; tried += 1) {
      const row = await this.get(scope, id)
      if (row === null) return null
      const data = edit(row)
      const written = data === null ? row : await this.replace(row, data, { notices })
      if (written !== null) return written
    }
    throw new ServiceError('version_conflict')
  }

  /**
   * Sends notices of an action that does not change the row, such as a read. The row's time of update stays.
   *
   * @returns null when there is no such row.
   * @throws {ServiceError} `version_conflict` when every attempt lost to another writer.
   */
  async notify(scope: Scope, id: string, notices: (row: Row<T>) => readonly Notice[]): Promise<Row<T> | null> {
    for (let tried = 0; tried < maxTries; tried += 1) {
      const row = await this.get(scope, id)
      if (row === null) return null
      const next = this.#withNotices({ ...row, version: row.version + 1 }, row, {
        notices: notices(row),
        at: this.#now(),
      })
      if ((await this.#records.replace(this.#kind, next)) === 'done') return next
    }
    throw new ServiceError('version_conflict')
  }

  /**
   * Removes the row. With `notices` it is hidden at once, and its document is deleted when they are delivered; until
   * then the id stays taken, but its unique keys are free.
   *
   * @returns false when there is none.
   * @throws {ServiceError} `version_conflict` when every attempt lost to another writer.
   */
  async remove(scope: Scope, id: string, notices?: (row: Row<T>) => readonly Notice[]): Promise<boolean> {
    if (notices === undefined) return this.#records.remove(this.#kind, scope, id)
    for (let tried = 0; tried < maxTries; tried += 1) {
      const row = await this.get(scope, id)
      if (row === null) return false
      if (await this.#bury(row, notices(row))) return true
    }
    throw new ServiceError('version_conflict')
  }

  async #bury(row: Row<T>, notices: readonly Notice[]): Promise<boolean> {
    const { version, data: _gone, ...rest } = row
    const grave: StoredRecord = { ...rest, data: {}, version: version + 1, updated_at: this.#now(), expires_at: 1 }
    return (await this.#records.replace(this.#kind, this.#withNotices(grave, row, { notices }))) === 'done'
  }

  #withNotices<R extends StoredRecord>(
    next: R,
    before: StoredRecord | undefined,
    { notices, at = next.updated_at }: { readonly notices: readonly Notice[]; readonly at?: number },
  ): R {
    if (notices.length > 0 && !this.#kind.outbox) throw new Error(`${this.#kind.name} is declared without an outbox`)
    const outbox = outboxOf({ ...next, updated_at: at }, before?.outbox ?? [], notices)
    return outbox.length === 0 ? next : { ...next, outbox }
  }

  async list(scope: Scope, query: RecordQuery): Promise<readonly Row<T>[]> {
    const records = await this.#records.list(this.#kind, scope, query)
    return records.map((record) => rowOf(this.#kind, record))
  }

  /** Returns all rows of a query, in as many reads as it takes. */
  async every(scope: Scope, query: Pick<RecordQuery, 'where' | 'ascending'> = {}): Promise<readonly Row<T>[]> {
    const rows: Row<T>[] = []
    for (;;) {
      const after = rows.at(-1)?.id
      const page = await this.list(scope, { ...query, limit: pageSize, ...(after !== undefined && { after }) })
      rows.push(...page)
      if (page.length < pageSize) return rows
    }
  }

  count(scope: Scope, where?: { readonly [field: string]: Json }): Promise<number> {
    return this.#records.count(this.#kind, scope, where)
  }

  #row(record: StoredRecord | null): Row<T> | null {
    return record === null ? null : rowOf(this.#kind, record)
  }
}
