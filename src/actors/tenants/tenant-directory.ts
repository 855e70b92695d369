import { createHash } from 'node:crypto'
import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope, type Scope, tenantScope } from '#storage/index.ts'
import { unknownCredential } from '../accounts/credentials.ts'
import { noTenant } from '../call/not-found.ts'
import type { Services } from '../capability/services.ts'
import { RecheckCache } from '../records/caches/recheck-cache.ts'
import { Table } from '../records/table.ts'
import { forgottenUsers, type TenantData, type TenantUserData, tenants, tenantUsers } from './kinds.ts'

/** How long another node may still serve a tenant that was suspended on this node, in ms. */
const tenantRecheckMs = 1000

const maxCached = 50_000

/** How long tokens of a deleted user are refused, in ms: longer than the lifetime of any client token. */
const forgottenForMs = 20 * 60 * 1000

type Status = TenantData['status']

/** Checks that a call may work on a record of a tenant. @throws {ServiceError} `tenant_suspended`, `tenant_deleting` */
export type AdmitWork = (
  scope: Pick<Scope, 'work'>,
  record: { readonly project: string; readonly tenant: string | null },
) => void | Promise<void>

export type TenantDirectoryParts = Pick<Services, 'now' | 'records' | 'credentialChanges'>

/**
 * Looks up whether tenants may be served, cached for a second. All checks of suspended and deleted tenants are here.
 */
export class TenantDirectory {
  readonly #parts: TenantDirectoryParts
  readonly #table: Table<TenantData>
  readonly #forgotten: Table<{ readonly mark: string }>
  readonly #statuses: RecheckCache<Status>
  readonly #users: RecheckCache<'known' | 'forgotten'>
  readonly #tenantUsers: Table<TenantUserData>
  readonly #standings: RecheckCache<'here' | 'erased'>

  constructor(parts: TenantDirectoryParts) {
    this.#parts = parts
    const { records, now, credentialChanges: changes } = parts
    this.#table = new Table(records, tenants, now)
    this.#forgotten = new Table(records, forgottenUsers, now)
    const cache = { maxAgeMs: tenantRecheckMs, maxEntries: maxCached, now, changes }
    this.#statuses = new RecheckCache({ ...cache, load: (key) => this.#loadStatus(key) })
    this.#users = new RecheckCache({ ...cache, load: (key) => this.#loadUser(key) })
    this.#tenantUsers = new Table(records, tenantUsers, now)
    this.#standings = new RecheckCache({ ...cache, load: (key) => this.#loadStanding(key) })
  }

  /**
   * Resolves when the tenant may be served; synchronous for a tenant looked up within the last second.
   *
   * @throws {ServiceError} `tenant_suspended`, `tenant_deleting`; `not_found` with `param` for an unknown tenant.
   */
  admit(project: string, tenant: string, param = 'tenant_id'): void | Promise<void> {
    const key = `${project}/${tenant}`
    const known = this.#statuses.peek(key)
    if (known !== undefined) return refuseUnlessActive(known, param)
    return this.#statuses.load(key).then((status) => refuseUnlessActive(status, param))
  }

  /**
   * Resolves when the tenant of a record may be served, for a scope of work (`workScope`); at once for other scopes, and
   * for records of the project.
   *
   * @throws {ServiceError} as `admit`
   */
  readonly admitWork: AdmitWork = ({ work }, { project, tenant }) =>
    work === true && tenant !== null ? this.admit(project, tenant) : undefined

  /**
   * Whether work of a tenant that no request begins has to rest: it is suspended, being deleted or gone.
   *
   * @throws {StoreUnavailable}
   */
  async rests(project: string, tenant: string): Promise<boolean> {
    const key = `${project}/${tenant}`
    return (this.#statuses.peek(key) ?? (await this.#statuses.load(key))) !== 'active'
  }

  /**
   * Resolves when the project has the tenant, whatever its status.
   *
   * @throws {ServiceError} `not_found` with `param`
   */
  check(project: string, tenant: string, param: string): void | Promise<void> {
    const key = `${project}/${tenant}`
    if (this.#statuses.peek(key) !== undefined) return
    return this.#statuses.load(key).then((status) => {
      if (status === null) throw noTenant(param)
    })
  }

  /**
   * As `admit`, for an end user with a client token. When the tenant or the user was deleted, the token is simply
   * invalid, which reveals nothing else.
   *
   * @throws {ServiceError} `tenant_suspended`, `tenant_deleting`, `authentication_required`
   */
  admitUser(project: string, tenant: string, user: string): void | Promise<void> {
    const [tenantKey, userKey] = [`${project}/${tenant}`, userMark(project, tenant, user)]
    const [status, standing] = [this.#statuses.peek(tenantKey), this.#users.peek(userKey)]
    if (status !== undefined && standing !== undefined) return refuseToken(status, standing)
    return Promise.all([status ?? this.#statuses.load(tenantKey), standing ?? this.#users.load(userKey)]).then(
      ([loaded, known]) => refuseToken(loaded, known),
    )
  }

  /**
   * Resolves while a tenant, and a user of it unless null, are not being deleted.
   *
   * @throws {ServiceError} `tenant_deleting`, `not_found`
   */
  async remains(project: string, tenant: string, user: string | null): Promise<void> {
    const key = `${project}/${tenant}`
    const status = this.#statuses.peek(key) ?? (await this.#statuses.load(key))
    if (status !== 'suspended') refuseUnlessActive(status, 'tenant_id')
    if (user === null) return
    const place = JSON.stringify([project, tenant, user])
    const standing = this.#standings.peek(place) ?? (await this.#standings.load(place))
    if (standing === 'erased') throw new ServiceError('not_found', { param: 'external_user_id' })
  }

  /** Ends the calls in progress of a user that is being erased, on every node. */
  erasing(project: string, tenant: string, user: string): void {
    this.#standings.forget(JSON.stringify([project, tenant, user]))
  }

  /** Drops the cached tenant on this node: call it after every change of its status. */
  forget(project: string, tenant: string): void {
    this.#statuses.forget(`${project}/${tenant}`)
  }

  /**
   * Refuses the client tokens of a user from now on. The record of the refusal names the user by a hash, and expires by
   * itself.
   */
  async refuseUser(project: string, tenant: string, user: string): Promise<void> {
    const mark = userMark(project, tenant, user)
    const expiresAtMs = this.#parts.now() + forgottenForMs
    const id = `fgt_${mark}`
    const made = await this.#forgotten.insert({ id, project, tenant, expiresAtMs, data: { mark } })
    const row = made ?? (await this.#forgotten.get(projectScope(project), id))
    if (made === null && row !== null) await this.#forgotten.replace(row, row.data, { expiresAtMs })
    this.#users.forget(mark)
  }

  /** Withdraws the refusal, after the caller has created the user again. */
  async welcomeUser(project: string, tenant: string, user: string): Promise<void> {
    const mark = userMark(project, tenant, user)
    await this.#forgotten.remove(projectScope(project), `fgt_${mark}`)
    this.#users.forget(mark)
  }

  async #loadStatus(key: string): Promise<Status | null> {
    const [project = '', tenant = ''] = key.split('/')
    return (await this.#table.get(projectScope(project), tenant))?.data.status ?? null
  }

  async #loadStanding(place: string): Promise<'here' | 'erased'> {
    const [project = '', tenant_id = '', external_user_id = '']: string[] = JSON.parse(place)
    const row = await this.#tenantUsers.find(tenantScope(project, tenant_id), { tenant_id, external_user_id })
    return row?.data.state === 'forgotten' ? 'erased' : 'here'
  }

  async #loadUser(mark: string): Promise<'known' | 'forgotten'> {
    return (await this.#forgotten.findGlobal({ mark })) === null ? 'known' : 'forgotten'
  }
}

/** A hash that identifies the user; the user's id cannot be derived from it. */
const userMark = (project: string, tenant: string, user: string): string =>
  createHash('sha256')
    .update(JSON.stringify([project, tenant, user]))
    .digest('hex')

const refuseUnlessActive = (status: Status | null, param: string): void => {
  if (status === 'active') return
  if (status === null) throw noTenant(param)
  throw new ServiceError(status === 'suspended' ? 'tenant_suspended' : 'tenant_deleting')
}

const refuseToken = (status: Status | null, standing: 'known' | 'forgotten' | null): void => {
  if (status === null || standing === 'forgotten') throw unknownCredential()
  refuseUnlessActive(status, 'tenant_id')
}
