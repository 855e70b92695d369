import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { type Scope, tenantScope } from '#storage/index.ts'
import type { Call } from '../call/call.ts'
import { noTenant, orNotFound } from '../call/not-found.ts'
import type { UseCasesOf } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { actorOf, type Caller, unlessSame } from '../records/audit-note.ts'
import { Audited } from '../records/audited.ts'
import { RecordResource } from '../records/record-resource.ts'
import { rowTimes } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { newId } from '../runtime/index.ts'
import { erasureNotice } from './erasures.ts'
import { type TenantUserData, tenants, tenantUsers } from './kinds.ts'
import type { OwnerEraser } from './owner-eraser.ts'
import type { TenantDirectory } from './tenant-directory.ts'

export interface TenantUserDeps extends Pick<Services, 'now' | 'records'> {
  readonly directory: TenantDirectory
  /** Finds what users own who were never created. */
  readonly owned: Pick<OwnerEraser, 'left'>
}

type Address = { readonly tenant_id: string; readonly external_user_id: string }
type UserCall = Pick<Call<Address, unknown, unknown>, 'scope' | 'params'> & Caller

const maxIdLength = 256

/** A user of a tenant as the API returns it. */
const tenantUserView = (row: Row<TenantUserData>) => {
  const { state: _active, ...data } = row.data
  return { id: row.id, ...data, ...rowTimes(row) }
}

/**
 * Use-cases of the users of a tenant, who are addressed by the caller's own ids. Deletion keeps the user's data; with
 * `hard=true` it is erased too.
 */
export const tenantUserUseCases = (deps: TenantUserDeps): UseCasesOf<'tenant_users'> => {
  const users = new TenantUsers(deps)
  return {
    'tenant_users.list': async ({ scope, params, query }) => {
      const tenant = await users.tenantOf(scope, params.tenant_id)
      return users.resource.list(tenantScope(scope.project, tenant.id), { ...query, where: { state: 'active' } })
    },
    'tenant_users.get': async (call) => tenantUserView(await users.find(call)),
    'tenant_users.put': (call) => users.put(call, call.body),
    'tenant_users.update': async (call) => {
      const known = await users.find(call)
      const notices = new Audited(call, 'tenant_user').changed<TenantUserData>()
      return users.resource.change(call.scope, known.id, {
        edit: ({ data }) => unlessSame(data, { ...data, ...call.body }),
        notices,
      })
    },
    'tenant_users.delete': (call) => (call.query.hard ? users.forget(call) : users.remove(call)),
  }
}

class TenantUsers {
  readonly resource: RecordResource<TenantUserData, ReturnType<typeof tenantUserView>>
  readonly #table: Table<TenantUserData>
  readonly #deps: TenantUserDeps

  constructor(deps: TenantUserDeps) {
    this.#deps = deps
    this.#table = new Table(deps.records, tenantUsers, deps.now)
    this.resource = new RecordResource({ table: this.#table, idPrefix: 'usr', view: tenantUserView })
  }

  async tenantOf(scope: Scope, id: string) {
    const tenant = await new Table(this.#deps.records, tenants, this.#deps.now).get(scope, id)
    if (tenant === null) throw noTenant('tenant_id')
    return tenant
  }

  /** @throws {ServiceError} `not_found`, also for a deleted user. */
  async find({ scope, params }: UserCall): Promise<Row<TenantUserData>> {
    const row = await this.#known(scope, params)
    if (row?.data.state !== 'active') throw new ServiceError('not_found', { param: 'external_user_id' })
    return row
  }

  async put(call: UserCall, body: BodyOf<'tenant_users.put'>) {
    const { scope, params } = call
    const { tenant_id, external_user_id: user } = params
    if (user.length > maxIdLength) throw new ServiceError('invalid_field', { param: 'external_user_id' })
    await this.tenantOf(scope, tenant_id)
    const id = newId('usr')
    const audited = new Audited(call, 'tenant_user')
    const given = { display_name: body.display_name ?? null, email: body.email ?? null, metadata: body.metadata }
    const data: TenantUserData = { tenant_id, external_user_id: user, ...given, state: 'active' }
    const row = { id, project: scope.project, tenant: tenant_id, user, data, notices: [audited.line('created', id)] }
    const edit = (known: Row<TenantUserData>) => {
      if (known.data.state === 'forgotten') throw stillErased()
      return unlessSame(known.data, { ...known.data, ...changesIn(known, body) })
    }
    const made = await this.resource.upsert(
      scope,
      { tenant_id, external_user_id: user },
      { row, edit, notices: audited.changed() },
    )
    await this.#deps.directory.welcomeUser(scope.project, tenant_id, user)
    return made
  }

  /** Hides the user and refuses its client tokens; the user's data is kept. */
  async remove(call: UserCall): Promise<{ readonly id: string; readonly deleted: true }> {
    const { id } = await this.find(call)
    const edit = ({ data }: Row<TenantUserData>): TenantUserData => ({ ...data, state: 'removed' })
    const notices = new Audited(call, 'tenant_user').changed<TenantUserData>('deleted')
    const { tenant_id, external_user_id } = call.params
    // first the refusal: a repeat of the request after a crash would find no user, and leave its tokens valid
    await this.#deps.directory.refuseUser(call.scope.project, tenant_id, external_user_id)
    await this.resource.change(call.scope, id, { edit, notices })
    return { id, deleted: true }
  }

  /**
   * Erases the user and all data that it owns; a deleted user can be erased too, and one that only its data names. The
   * user is refused at once, and the erasure continues in the background until nothing is left. Called again meanwhile,
   * it does not start a second erasure.
   */
  async forget(call: UserCall): Promise<{ readonly id: string; readonly deleted: true }> {
    const { scope, params } = call
    const { tenant_id, external_user_id: user } = params
    const known = (await this.#known(scope, params)) ?? (await this.#owning(call))
    await this.#deps.directory.refuseUser(scope.project, tenant_id, user)
    const { external_id } = (await this.tenantOf(scope, tenant_id)).data
    const edit = ({ data }: Row<TenantUserData>): TenantUserData | null =>
      data.state === 'forgotten' ? null : { ...data, ...nothingKnown, state: 'forgotten' }
    await this.#table.change(scope, known.id, {
      edit,
      notices: ({ id, updated_at }) => [
        new Audited(call, 'tenant_user').line('forgotten', id),
        erasureNotice({ tenant_id, external_id, user, by: actorOf(call) }, updated_at),
      ],
    })
    this.#deps.directory.erasing(scope.project, tenant_id, user)
    return { id: known.id, deleted: true }
  }

  /** Creates the row of a user that owns something without one. @throws {ServiceError} `not_found` */
  async #owning({ scope: { project }, params }: UserCall): Promise<Row<TenantUserData>> {
    const { tenant_id: tenant, external_user_id: user } = params
    const left = await this.#deps.owned.left({ project, tenant, user })
    if (Object.keys(left).length === 0) throw new ServiceError('not_found', { param: 'external_user_id' })
    const data: TenantUserData = { ...params, ...nothingKnown, state: 'removed' }
    const made = await this.#table.insert({ id: newId('usr'), project, tenant, user, data })
    return orNotFound(made ?? (await this.#known(tenantScope(project, tenant), params)), 'external_user_id')
  }

  #known(scope: Scope, { tenant_id, external_user_id }: Address): Promise<Row<TenantUserData> | null> {
    return this.#table.find(scope, { tenant_id, external_user_id })
  }
}

const stillErased = (): ServiceError =>
  new ServiceError('invalid_transition', {
    message: 'The user is being deleted, with everything that is created for it meanwhile. Try again in some seconds.',
    retryAfterS: 5,
  })

const nothingKnown = { display_name: null, email: null, metadata: {} } as const

/**
 * Applies a PUT. A deleted user is restored with its id but without its earlier fields; otherwise omitted fields keep
 * their value.
 */
const changesIn = ({ data }: Row<TenantUserData>, body: BodyOf<'tenant_users.put'>): Partial<TenantUserData> => {
  const before = data.state === 'active' ? data : { ...data, ...nothingKnown }
  return {
    display_name: body.display_name === undefined ? before.display_name : body.display_name,
    email: body.email === undefined ? before.email : body.email,
    metadata: Object.keys(body.metadata).length === 0 ? before.metadata : body.metadata,
    state: 'active',
  }
}
