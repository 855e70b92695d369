import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { projectScope } from '#storage/index.ts'
import { orNotFound } from '../call/not-found.ts'
import type { UseCases, UseCasesOf } from '../call/use-cases.ts'
import { type Caller, unlessSame } from '../records/audit-note.ts'
import { Audited } from '../records/audited.ts'
import type { Notice } from '../records/notices.ts'
import { RecordResource } from '../records/record-resource.ts'
import { rowTimes } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { newIdFor } from '../runtime/internal.ts'
import { type BaseAccess, everything, type Searcher, type Subject } from './access/base-access.ts'
import { deletionNotice } from './deletions.ts'
import type { KnowledgeBaseData } from './kinds.ts'
import { nothingFound, type SearchParts, searchBase } from './search/search-base.ts'

export interface BaseParts extends SearchParts {
  readonly access: BaseAccess
  /** @throws {ServiceError} `not_found` when the project does not have the tenant. */
  readonly checkTenant: (project: string, tenant: string, param?: string) => void | Promise<void>
}

export type BaseUseCases = UseCasesOf<'knowledge_bases'>

type CreateCall = Parameters<UseCases['knowledge_bases.create']>[0]

const resourceOf = ({ bases }: BaseAccess) => new RecordResource({ table: bases, idPrefix: 'kb', view: baseView })

/**
 * Returns a function that creates a base, and stores further notices in the same write.
 *
 * @throws {ServiceError} `not_found` for the tenant of the body
 */
export const baseMaker =
  ({ access, checkTenant }: Pick<BaseParts, 'access' | 'checkTenant'>) =>
  async (call: CreateCall, further: (id: string) => readonly Notice[] = () => []): Promise<BaseView> => {
    const { scope, body } = call
    const tenant = scope.tenant ?? body.tenant_id ?? null
    if (scope.tenant !== null && (body.tenant_id ?? scope.tenant) !== scope.tenant)
      throw new ServiceError('not_found', { param: 'tenant_id' })
    if (tenant !== null) await checkTenant(scope.project, tenant)
    const id = newIdFor(call, 'kb')
    const { name, description = null, metadata } = body
    const notices = [audited(call).line('created', id), ...further(id)]
    const data = { name, description, tenant_id: tenant, metadata }
    return resourceOf(access).create(scope, { id, project: scope.project, tenant, data, notices })
  }

/** Use-cases of knowledge bases, including search. */
export const baseUseCases = (parts: BaseParts): BaseUseCases => {
  const { access, checkTenant } = parts
  const resource = resourceOf(access)
  const make = baseMaker(parts)
  return {
    'knowledge_bases.list': ({ scope, query: { tenant_id, ...page } }) =>
      resource.list(scope, tenant_id === undefined ? page : { ...page, where: { tenant_id } }),
    'knowledge_bases.get': ({ scope, params }) => resource.get(scope, params.knowledge_base_id),
    'knowledge_bases.create': (call) => make(call),
    'knowledge_bases.update': (call) => {
      const edit = ({ data }: Row<KnowledgeBaseData>) => unlessSame(data, { ...data, ...call.body })
      return resource.change(call.scope, call.params.knowledge_base_id, { edit, notices: audited(call).changed() })
    },
    'knowledge_bases.delete': async (call) => {
      const { scope, params } = call
      const line = audited(call).removed()
      const notices = (row: Row<KnowledgeBaseData>) => [...line(row), deletionNotice(row.id)]
      return resource.remove(scope, params.knowledge_base_id, notices)
    },
    'knowledge_bases.search': async ({ principal, scope, params, body, signal }) => {
      const { project } = scope
      const base = orNotFound(await access.bases.get(projectScope(project), params.knowledge_base_id))
      const caller = await access.searcherOf(principal, scope)
      if (!(await access.maySearch(base, caller))) throw new ServiceError('not_found')
      if (body.subject !== undefined) {
        if (caller !== everything) throw new ServiceError('secret_key_required', { param: 'subject' })
        const { subject, param } = subjectOf(body.subject)
        if (subject.type === 'tenant') await checkTenant(project, subject.id, param)
        const searcher: Searcher = await access.searcherAs(scope, subject, param)
        if (!(await access.maySearch(base, searcher))) return nothingFound
      }
      const { query, top_k, threshold, explain = false } = body
      const filter = body.filter === undefined ? null : { fields: body.filter }
      const searched = { project, tenant: base.tenant, base: base.id }
      const found = await searchBase(parts, { ...searched, query, top_k, threshold, filter, explain }, signal)
      return { ...found, data: found.data.map(({ file_id: _, ...hit }) => hit) }
    },
  }
}

type NamedSubject = NonNullable<BodyOf<'knowledge_bases.search'>['subject']>

/** Returns the subject of a search, and the path of its id for errors. */
const subjectOf = (named: NamedSubject): { readonly subject: Subject; readonly param: string } =>
  'subject_type' in named
    ? { subject: { type: named.subject_type, id: named.subject_id }, param: 'subject.subject_id' }
    : { subject: named, param: 'subject.id' }

const audited = (caller: Caller) => new Audited(caller, 'knowledge_base')

const baseView = (row: Row<KnowledgeBaseData>) => ({ id: row.id, ...row.data, ...rowTimes(row) })

type BaseView = ReturnType<typeof baseView>
