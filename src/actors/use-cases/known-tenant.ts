import { ServiceError } from '../../../specs/errors.ts'
import { projectScope } from '../../../specs/scope.ts'
import type { RecordStore } from '../../storage/ports.ts'
import { tenants } from '../records/kinds.ts'
import { Table } from '../records/table.ts'

/** Checks a tenant for which something is begun. */
export type CheckTenant = (project: string, tenant: string) => Promise<void>

/**
 * Reads the tenant that a request names in its body, where no credential has named it.
 *
 * @throws (from the check) {ServiceError} `not_found` for one that the project does not have, `tenant_suspended`,
 * `tenant_deleting`.
 */
export const tenantCheck = (records: RecordStore, now: () => number): CheckTenant => {
  const table = new Table(records, tenants, now)
  return async (project, tenant) => {
    const status = (await table.get(projectScope(project), tenant))?.data.status
    if (status === 'active') return
    if (status === 'suspended') throw new ServiceError('tenant_suspended')
    if (status === 'deleting') throw new ServiceError('tenant_deleting')
    throw new ServiceError('not_found', { param: 'tenant_id', message: 'There is no such tenant.' })
  }
}
