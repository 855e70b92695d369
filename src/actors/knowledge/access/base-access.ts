import { agentInstallations, agents } from '#actors/agents/kinds.ts'
import type { Principal } from '#actors/call/call.ts'
import { orNotFound } from '#actors/call/not-found.ts'
import { endUsers, tenantUsers } from '#actors/tenants/kinds.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { projectScope, type RecordStore, type Scope, tenantScope } from '#storage/index.ts'
import {
  type KnowledgeBaseData,
  type KnowledgeGrantData,
  knowledgeBases,
  knowledgeGrants,
  type SubjectType,
} from '../kinds.ts'

/** A subject that a knowledge base can be granted to. */
export interface Subject {
  readonly type: SubjectType
  readonly id: string
}

/** The party that searches: its tenant, whose bases it may search, and all subjects whose grants apply to it. */
export interface Searcher {
  /** Null when there is no tenant: bases of tenants are then accessible by grants only. */
  readonly tenant: string | null
  readonly subjects: readonly Subject[]
  /** Grants to any active installation of the tenant apply too. */
  readonly anyInstallation?: true
}

/** Access to all bases of the project, as with its secret key. */
export const everything = 'everything'

const pageSize = 200

/** Decides who may search a base: the tenant that owns it, and the subjects that it is granted to. */
export class BaseAccess {
  readonly bases: Table<KnowledgeBaseData>
  readonly grants: Table<KnowledgeGrantData>
  readonly #agents
  readonly #installations
  readonly #tenantUsers
  readonly #endUsers

  constructor(records: RecordStore, now: () => number) {
    this.bases = new Table(records, knowledgeBases, now)
    this.grants = new Table(records, knowledgeGrants, now)
    this.#agents = new Table(records, agents, now)
    this.#installations = new Table(records, agentInstallations, now)
    this.#tenantUsers = new Table(records, tenantUsers, now)
    this.#endUsers = new Table(records, endUsers, now)
  }

  /**
   * Returns a base of the scope.
   *
   * @throws {ServiceError} `not_found`
   */
  async base(scope: Scope, id: string): Promise<Row<KnowledgeBaseData>> {
    return orNotFound(await this.bases.get(scope, id))
  }

  /** Returns the searcher that a caller is. @throws {StoreUnavailable} */
  async searcherOf(principal: Principal, scope: Scope): Promise<Searcher | typeof everything> {
    if (principal.kind === 'client_token') {
      const { tenant, user, installationIds } = principal
      const own = await this.subjectsOf(scope.project, tenant, user)
      if (installationIds.length === 0) return { tenant, subjects: own, anyInstallation: true }
      return { tenant, subjects: [...own, ...(await this.#active(scope.project, installationIds))] }
    }
    if (principal.kind === 'agent_key') return { tenant: null, subjects: [{ type: 'agent', id: principal.agentId }] }
    if (scope.tenant !== null)
      return { tenant: scope.tenant, subjects: await this.subjectsOf(scope.project, scope.tenant, scope.user) }
    return everything
  }

  /**
   * Returns the searcher for a subject, including the other subjects whose grants apply to it.
   *
   * @throws {ServiceError} `not_found`
   */
  async searcherAs(scope: Scope, { type, id }: Subject, param: string): Promise<Searcher> {
    const tenant = await this.tenantOf(scope, { type, id }, param)
    const owner: readonly Subject[] = tenant === null ? [] : [{ type: 'tenant', id: tenant }]
    if (type === 'tenant') return { tenant, subjects: owner }
    if (type === 'agent') return { tenant: null, subjects: [{ type, id }] }
    if (type === 'end_user') return { tenant, subjects: [...owner, { type, id }] }
    const installation = await this.#installations.get(projectScope(scope.project), id)
    if (installation?.data.status !== 'active') return { tenant, subjects: owner }
    const agent: Subject = { type: 'agent', id: installation.data.agent_id }
    return { tenant, subjects: [...owner, { type, id }, agent] }
  }

  /**
   * Returns the tenant of a subject; null when it belongs to the project.
   *
   * @throws {ServiceError} `not_found` with `param` when the project has no such agent, installation or user.
   */
  async tenantOf({ project }: Scope, { type, id }: Subject, param: string): Promise<string | null> {
    const scope = projectScope(project)
    if (type === 'agent') return orNotFound(await this.#agents.get(scope, id), param).tenant
    if (type === 'installation') return orNotFound(await this.#installations.get(scope, id), param).tenant
    if (type === 'end_user') {
      const row = (await this.#tenantUsers.get(scope, id)) ?? (await this.#endUsers.get(scope, id))
      return orNotFound(row, param).tenant
    }
    return id
  }

  /** Returns the external id of a tenant's user, with whom the grants are deleted; null for every other subject. */
  async userOf({ project }: Scope, { type, id }: Subject): Promise<string | null> {
    if (type !== 'end_user') return null
    return (await this.#tenantUsers.get(projectScope(project), id))?.user ?? null
  }

  /** Whether a searcher may search a base. @throws {StoreUnavailable} */
  async maySearch(base: Row<KnowledgeBaseData>, searcher: Searcher | typeof everything): Promise<boolean> {
    if (searcher === everything) return true
    const { tenant, subjects } = searcher
    if (base.tenant !== null && base.tenant === tenant) return true
    if (base.tenant !== null && tenant !== null) return false
    const scope = projectScope(base.project)
    const granted = subjects.map(({ type: subject_type, id: subject_id }) =>
      this.grants.find(scope, { knowledge_base_id: base.id, subject_type, subject_id }),
    )
    if ((await Promise.all(granted)).some((grant) => grant !== null)) return true
    return searcher.anyInstallation === true && tenant !== null && this.#grantsInstallation(base, tenant)
  }

  /**
   * Returns the subjects whose grants apply to a tenant, and to its user if one is given.
   *
   * @throws {StoreUnavailable}
   */
  async subjectsOf(project: string, tenant: string, user: string | null): Promise<readonly Subject[]> {
    const owner: Subject = { type: 'tenant', id: tenant }
    if (user === null) return [owner]
    const key = { tenant_id: tenant, external_user_id: user }
    const row = await this.#tenantUsers.find(tenantScope(project, tenant), key)
    return row === null ? [owner] : [owner, { type: 'end_user', id: row.id }]
  }

  /** Returns those installations that are active: grants to others do not apply. */
  async #active(project: string, ids: readonly string[]): Promise<readonly Subject[]> {
    const rows = await this.#installations.getMany(projectScope(project), ids)
    return ids.filter((id) => rows.get(id)?.data.status === 'active').map((id) => ({ type: 'installation', id }))
  }

  async #grantsInstallation({ project, id }: Row<KnowledgeBaseData>, tenant: string): Promise<boolean> {
    const where = { knowledge_base_id: id, subject_type: 'installation' }
    const scope = tenantScope(project, tenant)
    for (let after: string | undefined; ; ) {
      const page = await this.grants.list(scope, { where, limit: pageSize, ...(after !== undefined && { after }) })
      for (const { data } of page) {
        const installation = await this.#installations.get(scope, data.subject_id)
        if (installation?.data.status === 'active') return true
      }
      if (page.length < pageSize) return false
      after = page.at(-1)?.id
    }
  }
}
