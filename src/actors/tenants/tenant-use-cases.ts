import { ServiceError } from '#specs/errors/errors.ts'
import type { WebhookEventType } from '#specs/events/webhook-events.ts'
import type { BodyOf } from '#specs/index.ts'
import type { Principal } from '../call/call.ts'
import { orNotFound } from '../call/not-found.ts'
import { limitsOf } from '../call/reach.ts'
import type { UseCasesOf } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { actorOf, changedFields, unlessSame } from '../records/audit-note.ts'
import { Audited } from '../records/audited.ts'
import type { Notice } from '../records/notices.ts'
import { RecordResource } from '../records/record-resource.ts'
import { rowTimes } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { type NoticesOf, Table } from '../records/table.ts'
import { newIdFor } from '../runtime/internal.ts'
import { erasureNotice } from './erasures.ts'
import { type TenantData, tenants } from './kinds.ts'
import type { TenantDirectory } from './tenant-directory.ts'
import type { TenantExport } from './tenant-export.ts'

/** Dependencies of the use-cases of tenants. */
export interface TenantDeps extends Pick<Services, 'now' | 'records'> {
  readonly directory: TenantDirectory
  readonly exports: TenantExport
}

type TenantBody = BodyOf<'tenants.create'>

/** A tenant as the API returns it. */
const tenantView = (row: Row<TenantData>) => ({ id: row.id, ...row.data, ...rowTimes(row) })

/** Use-cases of the tenants of a project. Creation is an upsert by `external_id`. */
export const tenantUseCases = ({ records, directory, exports, now }: TenantDeps): UseCasesOf<'tenants'> => {
  const table = new Table(records, tenants, now)
  const resource = new RecordResource({ table, idPrefix: 'ten', view: tenantView, uniqueField: 'external_id' })
  return {
    'tenants.list': async ({ scope, query: { status, external_id, ...page } }) => {
      // at most one tenant has an external id
      if (external_id === undefined)
        return resource.list(scope, status === undefined ? page : { ...page, where: { status } })
      const { data, next_cursor } = await resource.list(scope, { ...page, where: { external_id } })
      return { data: data.filter((row) => status === undefined || row.status === status), next_cursor }
    },
    'tenants.get': ({ scope, params }) => resource.get(scope, params.tenant_id),
    'tenants.create': (call) => {
      const { scope, body } = call
      const id = newIdFor(call, 'ten')
      const audited = new Audited(call, 'tenant')
      const data = newTenant(body)
      const notices = [audited.line('created', id), webhookNotice('tenant.created', data)]
      const row = { id, project: scope.project, tenant: id, data, notices }
      const edit = (known: Row<TenantData>) => changed(unlessDeleting(known), body)
      return resource.upsert(scope, { external_id: body.external_id }, { row, edit, notices: changeNotices(audited) })
    },
    'tenants.update': async (call) => {
      const { scope, params, body } = call
      const edit = (row: Row<TenantData>) => edited(unlessDeleting(row), body)
      const notices = changeNotices(new Audited(call, 'tenant'))
      const row = await resource.change(scope, params.tenant_id, { edit, notices })
      if (body.status !== undefined) directory.forget(scope.project, params.tenant_id)
      return row
    },
    'tenants.delete': async (call) => {
      const { scope, params } = call
      const audited = new Audited(call, 'tenant')
      const edit = ({ data }: Row<TenantData>): TenantData | null =>
        data.status === 'deleting' ? null : { ...data, status: 'deleting' }
      const row = await resource.change(scope, params.tenant_id, {
        edit,
        notices: ({ id, data, updated_at }) => [
          audited.line('deletion_started', id),
          webhookNotice('tenant.deleting', data),
          erasureNotice({ tenant_id: id, external_id: data.external_id, user: null, by: actorOf(call) }, updated_at),
        ],
      })
      directory.forget(scope.project, params.tenant_id)
      return { ...row, deleted: true }
    },
    'tenants.export': async (call) => {
      const { scope, params, query, accept } = call
      const audited = new Audited(call, 'tenant')
      const includeSecrets = query.include_secrets
      if (includeSecrets) requireEveryOperation(call.principal)
      const done = includeSecrets ? 'exported_with_secrets' : 'exported'
      const row = orNotFound(await table.notify(scope, params.tenant_id, ({ id }) => [audited.line(done, id)]))
      return { bytes: exports.of(row, { accept, includeSecrets }) }
    },
  }
}

/** @throws {ServiceError} `insufficient_scope` for a key that is limited to operations, such as reading. */
const requireEveryOperation = (principal: Principal): void => {
  if ((limitsOf(principal)?.operations ?? null) === null) return
  throw new ServiceError('insufficient_scope', {
    param: 'include_secrets',
    message: 'A key whose scopes limit its operations cannot include secrets.',
  })
}

const unlessDeleting = (row: Row<TenantData>): Row<TenantData> => {
  if (row.data.status === 'deleting') throw new ServiceError('tenant_deleting')
  return row
}

const webhookNotice = (event_type: WebhookEventType, { external_id, status }: TenantData): Notice => ({
  kind: 'webhook',
  event_type,
  data: { external_id, status },
})

/** Notices of a change: a change of the status has its own event type. */
const changeNotices =
  (audited: Audited): NoticesOf<TenantData> =>
  (next, before) => {
    const fields = changedFields(before.data, next.data)
    const { status } = next.data
    const moved = status === before.data.status ? 'updated' : status === 'suspended' ? 'suspended' : 'resumed'
    return [audited.line(moved, next.id, fields), webhookNotice(`tenant.${moved}`, next.data)]
  }

const newTenant = ({ external_id, name, region, metadata }: TenantBody): TenantData => ({
  external_id,
  name,
  status: 'active',
  region: region ?? null,
  metadata,
})

/** Applies an upsert. Omitted fields keep their value, and so does `metadata` when it is `{}`, its default. */
const changed = ({ data }: Row<TenantData>, body: TenantBody): TenantData | null =>
  unlessSame(data, {
    ...data,
    name: body.name,
    region: body.region === undefined ? data.region : body.region,
    metadata: Object.keys(body.metadata).length === 0 ? data.metadata : body.metadata,
  })

const edited = ({ data }: Row<TenantData>, body: BodyOf<'tenants.update'>): TenantData | null =>
  unlessSame(data, { ...data, ...body })
