import type { UseCasesOf } from '#actors/call/use-cases.ts'
import type { Caller } from '#records/audit-note.ts'
import { Audited } from '#records/audited.ts'
import { type CountedLimit, CountedLimits } from '#records/counted-limits.ts'
import { RecordResource } from '#records/record-resource.ts'
import { rowTimes } from '#records/row-times.ts'
import type { Row } from '#records/schema.ts'
import { newIdFor } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { maxGrants } from '#specs/resources/knowledge/knowledge-limits.ts'
import type { Scope } from '#storage/index.ts'
import type { KnowledgeGrantData } from '../kinds.ts'
import type { BaseAccess, Subject } from './base-access.ts'

export interface GrantParts {
  readonly access: BaseAccess
  /** @throws {ServiceError} `not_found` when the project does not have the tenant. */
  readonly checkTenant: (project: string, tenant: string, param: string) => void | Promise<void>
}

/** Use-cases of grants, which let subjects search a base. */
export const grantUseCases = ({ access, checkTenant }: GrantParts): UseCasesOf<'knowledge_grants'> => {
  const { grants } = access
  const limits = new CountedLimits()
  const resource = new RecordResource({ table: grants, idPrefix: 'grt', olderIdPrefix: 'kgr', view: grantView })
  const tenantOf = async (scope: Scope, subject: Subject): Promise<string | null> => {
    if (subject.type === 'tenant') await checkTenant(scope.project, subject.id, 'subject_id')
    return access.tenantOf(scope, subject, 'subject_id')
  }
  return {
    'knowledge_grants.list': async ({ scope, params, query: { subject_type, ...page } }) => {
      const { id: knowledge_base_id } = await access.base(scope, params.knowledge_base_id)
      const where = { knowledge_base_id, ...(subject_type !== undefined && { subject_type }) }
      return resource.list(scope, { ...page, where })
    },
    'knowledge_grants.create': async (call) => {
      const { scope, body } = call
      const base = await access.base(scope, call.params.knowledge_base_id)
      const { subject_type, subject_id, permissions } = body
      const subject: Subject = { type: subject_type, id: subject_id }
      const tenant = await tenantOf(scope, subject)
      if (base.tenant !== null && tenant !== null && tenant !== base.tenant)
        throw new ServiceError('not_found', { param: 'subject_id', message: 'The subject is of another tenant.' })
      const key = { knowledge_base_id: base.id, subject_type, subject_id }
      const known = await grants.find(scope, key)
      if (known !== null) return grantView(known)
      const limit: CountedLimit = {
        max: maxGrants,
        count: () => grants.count(scope, { knowledge_base_id: base.id }),
        full: () => new ServiceError('knowledge_limit_reached'),
      }
      const id = newIdFor(call, 'grt')
      const row = {
        id,
        project: scope.project,
        tenant: tenant ?? base.tenant,
        user: await access.userOf(scope, subject),
        data: { ...key, permissions },
        notices: [audited(call).line('created', id)],
      }
      return limits.within(base.id, limit, () => resource.upsert(scope, key, { row, edit: () => null }))
    },
    'knowledge_grants.delete': async (call) => {
      const { scope, params } = call
      const base = await access.base(scope, params.knowledge_base_id)
      const grant = await grants.get(scope, params.grant_id)
      if (grant?.data.knowledge_base_id !== base.id) throw new ServiceError('not_found')
      return resource.remove(scope, grant.id, audited(call).removed())
    },
  }
}

const audited = (caller: Caller) => new Audited(caller, 'knowledge_grant')

const grantView = (row: Row<KnowledgeGrantData>) => ({ id: row.id, ...row.data, ...rowTimes(row) })
