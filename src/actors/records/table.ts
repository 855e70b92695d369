import { ServiceError } from '../../../specs/errors.ts'
import type { Scope } from '../../../specs/scope.ts'
import type { Json, JsonObject, RecordQuery, RecordStore, StoredRecord } from '../../storage/ports.ts'
import { type KeyOf, type Row, rowOf, type TypedKind } from './schema.ts'

/** What a new row says of itself; the rest follows from it. */
export interface NewRow<T extends JsonObject> {
  readonly id: string
  readonly project: string
  readonly tenant?: string | null
  readonly user?: string | null
  /** ms since the epoch; null or absent for never. */
  readonly expiresAtMs?: number | null
  readonly data: T
}

/** Tries under the version guard before a change is given up; each round at least one writer gets through. */
const maxTries = 100

/** The records of one kind, typed. */
export class Table<T extends JsonObject> {
  readonly #records: RecordStore
  readonly #kind: TypedKind<T>
  readonly #now: () => number

  constructor(records: RecordStore, kind: TypedKind<T>, now: () => number) {
    this.#records = records
    this.#kind = kind
    this.#now = now
  }

  async get(scope: Scope, id: string): Promise<Row<T> | null> {
    return this.#row(await this.#records.get(this.#kind, scope, id))
  }

  async find(scope: Scope, key: KeyOf<T>): Promise<Row<T> | null> {
    return this.#row(await this.#records.find(this.#kind, scope, key))
  }

  /** In any project: for credentials only. */
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
    return (await this.#records.insert(this.#kind, record)) === 'done' ? record : null
  }

  /**
   * Writes `data` over `row` if nobody else wrote since it was read.
   *
   * @returns null when somebody did, when a unique key is taken, or when the row is gone.
   */
  async replace(row: Row<T>, data: T, expiresAtMs: number | null = row.expires_at): Promise<Row<T> | null> {
    const next = { ...row, data, version: row.version + 1, updated_at: this.#now(), expires_at: expiresAtMs }
    return (await this.#records.replace(this.#kind, next)) === 'done' ? next : null
  }

  /**
   * Applies `edit` to the row's newest state; read and tried again when somebody else writes at the same time.
   *
   * @param edit returns the new data, or null to leave the row as it is.
   * @returns null when there is no such row.
   * @throws {ServiceError} `version_conflict` when others were always faster.
   */
  async change(scope: Scope, id: string, edit: (row: Row<T>) => T | null): Promise<Row<T> | null> {
    for (let tried = 0; tried < maxTries; tried += 1) {
      const row = await this.get(scope, id)
      if (row === null) return null
      const data = edit(row)
      const written = data === null ? row : await this.replace(row, data)
      if (written !== null) return written
    }
    throw new ServiceError('version_conflict')
  }

  remove(scope: Scope, id: string): Promise<boolean> {
    return this.#records.remove(this.#kind, scope, id)
  }

  async list(scope: Scope, query: RecordQuery): Promise<readonly Row<T>[]> {
    const records = await this.#records.list(this.#kind, scope, query)
    return records.map((record) => rowOf(this.#kind, record))
  }

  count(scope: Scope, where?: { readonly [field: string]: Json }): Promise<number> {
    return this.#records.count(this.#kind, scope, where)
  }

  #row(record: StoredRecord | null): Row<T> | null {
    return record === null ? null : rowOf(this.#kind, record)
  }
}
