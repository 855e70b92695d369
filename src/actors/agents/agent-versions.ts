import type { AgentVersionInput } from '#machines/agent-version/agent-version.ts'
import { agentStatus, agentVersionDefinition } from '#machines/agent-version/agent-version-definition.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Status } from '#specs/statuses.ts'
import { projectScope, type Scope } from '#storage/index.ts'
import { nullWhenNotFound, orNotFound } from '../call/not-found.ts'
import type { Services } from '../capability/services.ts'
import { type Page, type PageQuery, pageOf } from '../records/pages.ts'
import type { Row } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { contextOf } from '../runtime/index.ts'
import type { Resident } from '../runtime/internal.ts'
import { agentVersionNames, agentVersionRows, type VersionNameData, type VersionRowData } from './kinds.ts'

/** Dependencies of `AgentVersions`. */
export type AgentVersionsParts = Pick<Services, 'host' | 'now' | 'records'>

/** The versions of a project's agents. Each is an actor, found by its agent and its version name. */
export class AgentVersions {
  readonly #parts: AgentVersionsParts
  readonly #names: Table<VersionNameData>
  readonly #rows: Table<VersionRowData>

  constructor(parts: AgentVersionsParts) {
    this.#parts = parts
    this.#names = new Table(parts.records, agentVersionNames, parts.now)
    this.#rows = new Table(parts.records, agentVersionRows, parts.now)
  }

  /**
   * Returns a version by its name or by its id.
   *
   * @throws {ServiceError} `not_found` with the param `version`, also for a version of another agent; `actor_parked`.
   */
  async find({ project }: Scope, agentId: string, version: string): Promise<Resident> {
    const id = await this.#idOf(projectScope(project), agentId, version)
    return orNotFound(id === null ? null : await this.#at(project, id), 'version', 'There is no such version.')
  }

  /**
   * Creates a draft. Of two requests with one version name only one succeeds; a repeated request returns the draft that
   * it created.
   *
   * @param cause identifies the request.
   * @throws {ServiceError} `already_exists` with the param `version`.
   */
  async create({ project }: Scope, input: AgentVersionInput, cause: string): Promise<Resident> {
    const id = await this.#reserved(project, input)
    const owner = { project, tenant: null, user: null, createdAt: this.#parts.now() }
    const result = await this.#parts.host.create({
      kind: agentVersionDefinition,
      id,
      owner,
      input: { ...input, version_id: id },
      cause,
    })
    if (result.duplicate && (await this.#parts.host.commitOf(id, cause)) === null) throw taken()
    return this.#parts.host.find(projectScope(project), agentVersionDefinition, id)
  }

  /**
   * JSON text of a version's requirements, which never change. Read from the list row, so that a list loads no actors.
   */
  async requirementsOf(scope: Scope, agentId: string, id: string): Promise<string> {
    const row = await this.#rows.get(projectScope(scope.project), id)
    // the row is written shortly after its actor, so it may be missing
    return (
      row?.data.requirements ??
      contextOf(agentVersionDefinition, (await this.find(scope, agentId, id)).state.snapshot).requirements
    )
  }

  /** Returns one page of an agent's versions, latest first. */
  async list<V>(
    { project }: Scope,
    {
      agentId,
      page: { status, ...page },
    }: {
      readonly agentId: string
      readonly page: PageQuery & { readonly status?: Status<'agent_version'> | undefined }
    },
    view: (row: Row<VersionRowData>) => V,
  ): Promise<Page<V>> {
    await this.#parts.host.rows.shown()
    const where = status === undefined ? { agent_id: agentId } : { agent_status: agentStatus(agentId, status) }
    return pageOf(this.#rows, projectScope(project), { query: { ...page, where }, shown: { idPrefix: 'agv', view } })
  }

  /** Deletes all versions of an agent. Repeated after a crash, it deletes those that are left. */
  async deleteAll({ project }: Scope, agentId: string, by: AgentVersionInput['created_by']): Promise<void> {
    const scope = projectScope(project)
    for (;;) {
      const names = await this.#names.list(scope, { where: { agent_id: agentId }, limit: 100 })
      for (const { id } of names) {
        const version = await this.#at(project, id)
        if (version !== null) {
          const event = { type: 'delete', by, at: this.#parts.now() }
          await this.#parts.host.deliverTo(version, { event, cause: `delete:${agentId}` })
          await this.#parts.host.delivered(id)
        }
        await this.#names.remove(scope, id)
      }
      if (names.length < 100) return
    }
  }

  async #idOf(scope: Scope, agentId: string, version: string): Promise<string | null> {
    const name = version.startsWith(`${agentVersionDefinition.idPrefix}_`)
      ? await this.#names.get(scope, version)
      : await this.#names.find(scope, { agent_id: agentId, version })
    return name?.data.agent_id === agentId ? name.id : null
  }

  /**
   * Reserves the version name and returns its id: this request's id, or that of a request that failed before it created
   * the version.
   */
  async #reserved(project: string, { version_id, agent_id, version }: AgentVersionInput): Promise<string> {
    const data = { agent_id, version }
    if ((await this.#names.insert({ id: version_id, project, data })) !== null) return version_id
    const name = await this.#names.find(projectScope(project), data)
    if (name === null) throw new ServiceError('version_conflict')
    if (name.id !== version_id && (await this.#at(project, name.id)) !== null) throw taken()
    return name.id
  }

  async #at(project: string, id: string): Promise<Resident | null> {
    return this.#parts.host.find(projectScope(project), agentVersionDefinition, id).catch(nullWhenNotFound)
  }
}

const taken = (): ServiceError =>
  new ServiceError('already_exists', { param: 'version', message: 'The agent already has a version with this number.' })
