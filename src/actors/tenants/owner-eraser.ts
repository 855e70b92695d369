import { projectScope, type RecordStore, type Scope, type Storage, tenantScope, userScope } from '#storage/index.ts'
import { idempotencyKeys } from '../records/idempotent.ts'
import type { AnyKind } from '../records/schema.ts'
import { type EraserParts, requestErasure, sendDeleteToListed, tenantBlobs } from '../runtime/internal.ts'

/** The owner of data: a tenant, or one end user of it. */
export interface OwnerOf {
  readonly project: string
  readonly tenant: string
  /** External id; null for the whole tenant. */
  readonly user: string | null
}

/** Number of items left of an owner, by collection; empty when nothing is left. */
export type Left = { readonly [collection: string]: number }

/** Dependencies of `OwnerEraser`. */
export interface OwnedParts extends EraserParts {
  readonly storage: Storage
  /** All kinds of records. */
  readonly kinds: readonly AnyKind[]
  /** The kinds that are list rows of actors. */
  readonly actorRows: readonly AnyKind[]
}

const pageSize = 200
const atOnce = 16

/**
 * Everything that a tenant or user owns, in all collections: each record with their `tenant` (and `user`), each actor
 * created for them, and its blobs. New kinds of records and actors are covered automatically; a kind that must be kept
 * declares so (`TypedKind.erasure`).
 */
export class OwnerEraser {
  readonly #parts: OwnedParts

  constructor(parts: OwnedParts) {
    this.#parts = parts
  }

  /**
   * Removes what exists at the moment, and returns what is left: items that arrived meanwhile, and actors that take
   * longer. @throws {StoreUnavailable}
   */
  async erase(owner: OwnerOf): Promise<Left> {
    if (owner.user === null) await this.#eraseActors(owner.project, owner.tenant)
    else await this.#eraseUsersActors(scopeOf(owner))
    if (owner.user !== null) {
      for (const kind of this.#parts.kinds.filter(({ erasure }) => erasure === 'anonymised'))
        await this.#anonymise(kind, scopeOf(owner))
    }
    for (const kind of this.#kindsOf(owner)) await this.#clearOf(owner, kind)
    await this.#forgetRequests(owner)
    return this.left(owner)
  }

  /** Counts the items left in each collection; counts of actors, blobs and requests stop at one page. */
  async left(owner: OwnerOf): Promise<Left> {
    const { commits, records } = this.#parts.storage
    const left: Record<string, number> = {}
    for (const kind of this.#kindsOf(owner)) left[kind.name] = await records.left(kind, scopeOf(owner))
    left.requests = (await this.#requestsOf(owner)).length
    if (owner.user !== null) return withoutZeros(left)
    left.actors = (await commits.actorsOf(owner.project, owner.tenant, { after: null, limit: pageSize })).length
    left.blobs = await this.#leftBlobs(owner, left.actors > 0)
    return withoutZeros(left)
  }

  #kindsOf({ user }: OwnerOf): readonly AnyKind[] {
    return this.#parts.kinds.filter(({ erasure }) => erasure === undefined || (erasure !== 'kept' && user === null))
  }

  async #eraseActors(project: string, tenant: string): Promise<void> {
    const { commits } = this.#parts.storage
    for (let after: string | null = null; ; ) {
      const actors: readonly string[] = await commits.actorsOf(project, tenant, { after, limit: pageSize })
      for (let first = 0; first < actors.length; first += atOnce) {
        const some = actors.slice(first, first + atOnce)
        await Promise.all(some.map((actor) => this.#eraseActor({ actor, project, tenant })))
      }
      after = actors.at(-1) ?? null
      if (after === null || actors.length < pageSize) return
    }
  }

  /**
   * Deletes an actor. An actor that is unknown may have commits that arrived after its log was removed; those are
   * removed.
   */
  async #eraseActor(condemned: { readonly actor: string; readonly project: string; readonly tenant: string }) {
    if (await requestErasure(this.#parts, condemned)) return
    await this.#parts.storage.commits.forget(condemned.actor)
  }

  async #eraseUsersActors(scope: Scope): Promise<void> {
    for (const rows of this.#parts.actorRows) await sendDeleteToListed(this.#parts, { rows, scope })
  }

  /**
   * Clears a kind's records. A user's actors can only be found by their rows. So a row that arrived after the search
   * stays until its actor has received its `delete`, and only expired rows of removed actors are swept.
   */
  async #clearOf(owner: OwnerOf, kind: AnyKind): Promise<void> {
    const { storage, actorRows, clock } = this.#parts
    const isFound = owner.user !== null && actorRows.some(({ name }) => name === kind.name)
    const some = () =>
      isFound
        ? storage.records.sweep(kind, clock.now(), pageSize)
        : storage.records.clear(kind, scopeOf(owner), pageSize)
    for (let gone = pageSize; gone === pageSize; ) gone = await some()
  }

  /** Usage stays for the tenant's invoice, without the user. */
  async #anonymise(kind: AnyKind, scope: Scope): Promise<void> {
    const { records } = this.#parts.storage
    for (;;) {
      const rows = await records.list(kind, scope, { limit: pageSize })
      if (rows.length === 0) return
      await records.project(
        rows.map((row) => {
          const data = { ...row.data, external_user_id: null }
          return { kind, record: { ...row, user: null, version: row.version + 1, data } }
        }),
      )
    }
  }

  /** Removes stored responses of requests that named the owner, whichever caller sent them. */
  async #forgetRequests(owner: OwnerOf): Promise<void> {
    const { records } = this.#parts.storage
    for (;;) {
      const requests = await this.#requestsOf(owner)
      for (const { id } of requests) await records.remove(idempotencyKeys, projectScope(owner.project), id)
      if (requests.length < pageSize) return
    }
  }

  #requestsOf({ project, tenant, user }: OwnerOf): ReturnType<RecordStore['list']> {
    const where = requestsAbout(tenant, user)
    return this.#parts.storage.records.list(idempotencyKeys, projectScope(project), { where, limit: pageSize })
  }

  /** Removes the blobs unless actors still need them to load; returns how many are left, counting one page at most. */
  async #leftBlobs({ project, tenant }: OwnerOf, inUse: boolean): Promise<number> {
    const { blobs } = this.#parts.storage
    const prefix = tenantBlobs(tenant)
    if (!inUse) await blobs.remove(project, prefix)
    const names = await blobs.hashes(project, prefix, pageSize)
    return names.filter((name) => name.startsWith(prefix)).length
  }
}

const scopeOf = ({ project, tenant, user }: OwnerOf): Scope =>
  user === null ? tenantScope(project, tenant) : userScope(project, tenant, user)

const requestsAbout = (tenant: string, user: string | null): { readonly [field: string]: string } =>
  user === null ? { about_tenant: tenant } : { about_user: `${tenant}/${user}` }

const withoutZeros = (left: Left): Left => Object.fromEntries(Object.entries(left).filter(([, count]) => count > 0))
