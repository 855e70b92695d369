import { ServiceError } from '#specs/errors/errors.ts'
import type { JsonObject, Scope } from '#storage/index.ts'
import { orNotFound } from '../call/not-found.ts'
import type { Notice } from './notices.ts'
import { type IdPrefixes, type Page, type PageQuery, pageOf } from './pages.ts'
import type { KeyOf, Row } from './schema.ts'
import type { Change, NewRow, Table } from './table.ts'

/** Description of a resource that is a plain record. */
export interface RecordResourceSpec<T extends JsonObject, V> extends IdPrefixes {
  readonly table: Table<T>
  /** Builds the response for a row. */
  readonly view: (row: Row<T>) => V
  /** Name of the body field to report when a create violates a unique key. */
  readonly uniqueField?: string
}

/** List, get, create, upsert, change and remove for a resource without a lifecycle. All of them return views. */
export class RecordResource<T extends JsonObject, V> {
  readonly #spec: RecordResourceSpec<T, V>

  constructor(spec: RecordResourceSpec<T, V>) {
    this.#spec = spec
  }

  /**
   * Returns one page, newest first.
   * @throws {ServiceError} `invalid_query` for a cursor that was not issued by this list.
   */
  list(scope: Scope, query: PageQuery): Promise<Page<V>> {
    return pageOf(this.#spec.table, scope, { query, shown: this.#spec })
  }

  /** @throws {ServiceError} `not_found`, also for an id outside of the scope. */
  async get(scope: Scope, id: string): Promise<V> {
    return this.#spec.view(orNotFound(await this.#spec.table.get(scope, id)))
  }

  /**
   * Creates the row, or returns the existing one with this id: a create that is run again after a crash finds its own
   * row.
   *
   * @throws {ServiceError} `already_exists` when a unique key is taken.
   */
  async create(scope: Scope, row: NewRow<T>): Promise<V> {
    const made = (await this.#spec.table.insert(row)) ?? (await this.#spec.table.get(scope, row.id))
    if (made === null) throw new ServiceError('already_exists', param(this.#spec.uniqueField))
    return this.#spec.view(made)
  }

  /**
   * Creates the row, or applies `edit` to the one with the same unique key. Concurrent calls result in one row, whose
   * id all of them return.
   *
   * @param notices the notices of the change; those of the creation are in `row`.
   */
  async upsert(scope: Scope, key: KeyOf<T>, { row, ...change }: Change<T> & { readonly row: NewRow<T> }): Promise<V> {
    const { table, view } = this.#spec
    const known = await table.find(scope, key)
    if (known === null) {
      const made = await table.insert(row)
      if (made !== null) return view(made)
    }
    const existing = orNotFound(known ?? (await table.find(scope, key)))
    return view(orNotFound(await table.change(scope, existing.id, change)))
  }

  /** @param edit returns the new data, or null for no change. @throws {ServiceError} `not_found`, `version_conflict`. */
  async change(scope: Scope, id: string, change: Change<T>): Promise<V> {
    return this.#spec.view(orNotFound(await this.#spec.table.change(scope, id, change)))
  }

  /** @throws {ServiceError} `not_found`, also when it was removed before. */
  async remove(
    scope: Scope,
    id: string,
    notices?: (row: Row<T>) => readonly Notice[],
  ): Promise<{ readonly id: string; readonly deleted: true }> {
    if (!(await this.#spec.table.remove(scope, id, notices))) throw new ServiceError('not_found')
    return { id, deleted: true }
  }
}

const param = (name: string | undefined) => (name === undefined ? {} : { param: name })
