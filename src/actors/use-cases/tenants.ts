import { isDeepStrictEqual } from 'node:util'
import type { BodyOf } from '../../../specs/index.ts'
import type { RecordStore } from '../../storage/ports.ts'
import { newIdFor } from '../ids.ts'
import { type TenantData, tenants } from '../records/kinds.ts'
import { RecordResource } from '../records/record-resource.ts'
import { rowTimes } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import type { UseCases } from './use-cases.ts'

type TenantUseCases = Pick<UseCases, 'tenants.list' | 'tenants.create' | 'tenants.get'>
type TenantBody = BodyOf<'tenants.create'>

/** Tenants of a project. Creating is an upsert by `external_id`. */
export const tenantUseCases = ({ records, now }: { records: RecordStore; now: () => number }): TenantUseCases => {
  const resource = new RecordResource({
    table: new Table(records, tenants, now),
    idPrefix: 'ten',
    view: (row) => ({ id: row.id, ...row.data, ...rowTimes(row) }),
    uniqueField: 'external_id',
  })
  return {
    'tenants.list': ({ scope, query: { status, ...page } }) =>
      resource.list(scope, status === undefined ? page : { ...page, where: { status } }),
    'tenants.get': ({ scope, params }) => resource.get(scope, params.tenant_id),
    'tenants.create': (call) => {
      const { scope, body } = call
      const id = newIdFor(call, 'ten')
      const row = { id, project: scope.project, tenant: id, data: newTenant(body) }
      return resource.upsert(scope, { external_id: body.external_id }, row, (known) => changed(known, body))
    },
  }
}

const newTenant = ({ external_id, name, region, metadata }: TenantBody): TenantData => ({
  external_id,
  name,
  status: 'active',
  region: region ?? null,
  metadata,
})

/** What the body leaves out stays as it was, and `{}` is what a body without `metadata` says. */
const changed = ({ data }: Row<TenantData>, body: TenantBody): TenantData | null => {
  const next = {
    ...data,
    name: body.name,
    region: body.region === undefined ? data.region : body.region,
    metadata: Object.keys(body.metadata).length === 0 ? data.metadata : body.metadata,
  }
  return isDeepStrictEqual(next, data) ? null : next
}
