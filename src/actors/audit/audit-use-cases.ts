import { type Scope, tenantScope } from '#storage/index.ts'
import type { UseCases } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import type { NoticeDelivery } from '../records/notice-delivery.ts'
import { pageOf } from '../records/pages.ts'
import { timestampOf } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { type AuditData, auditLog } from './kinds.ts'

export interface AuditLogDeps extends Pick<Services, 'now' | 'records'> {
  readonly notices: Pick<NoticeDelivery, 'delivered'>
}

const viewOf = ({ id, tenant, created_at, data }: Row<AuditData>) => ({
  id,
  action: data.action,
  actor: { kind: data.actor_kind, id: data.actor_id, ip: data.actor_ip ?? null },
  resource: { type: data.resource_type, id: data.resource_id, name: data.resource_name },
  tenant_id: tenant,
  changes: data.changes,
  reason: data.reason ?? null,
  created_at: timestampOf(created_at),
})

/**
 * Lists the audit log. The list includes every record change that this node has acknowledged. Changes by actors, such
 * as decisions on actions, appear within a moment.
 */
export const auditLogUseCases = ({ records, notices, now }: AuditLogDeps): Pick<UseCases, 'audit_log.list'> => {
  const table = new Table(records, auditLog, now)
  return {
    'audit_log.list': async ({ scope, query: { limit, cursor, tenant_id, ...filters } }) => {
      await notices.delivered()
      const given = Object.entries(filters).flatMap(([field, value]) => (value === undefined ? [] : [[field, value]]))
      const where: { readonly [field: string]: string } = Object.fromEntries(given)
      return pageOf(table, narrowed(scope, tenant_id), {
        query: { limit, cursor, where },
        shown: { idPrefix: 'aud', view: viewOf },
      })
    },
  }
}

const narrowed = (scope: Scope, tenant: string | undefined): Scope =>
  tenant === undefined ? scope : tenantScope(scope.project, tenant)
