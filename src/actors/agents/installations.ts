import { agentVersionDefinition } from '#machines/agent-version/agent-version-definition.ts'
import { statusOf } from '#machines/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { WebhookEventType } from '#specs/events/webhook-events.ts'
import { type JsonObject, projectScope, type Scope } from '#storage/index.ts'
import { orNotFound } from '../call/not-found.ts'
import type { Services } from '../capability/services.ts'
import { type AuditActor, changedFields, unlessSame } from '../records/audit-note.ts'
import type { Notice } from '../records/notices.ts'
import type { Row } from '../records/schema.ts'
import { compareVersions } from '../records/semver.ts'
import { type NewRow, Table } from '../records/table.ts'
import type { AgentVersions } from './agent-versions.ts'
import type { Catalogue } from './catalogue.ts'
import { agentInstallations, type InstallationData, installationKeys, type Overlays } from './kinds.ts'

export interface InstallationParts extends Pick<Services, 'now' | 'records' | 'credentialChanges'> {
  readonly versions: AgentVersions
  readonly catalogue: Catalogue
  /**
   * @throws {ServiceError} `prerequisites_missing` when the version with these overlays requires something unavailable.
   */
  readonly checkNeeds: (scope: Scope, agentId: string, what: VersionRequirements) => Promise<void>
  /** @throws {ServiceError} for a tenant that is suspended or being deleted. */
  readonly checkTenant: (project: string, tenant: string) => Promise<void>
}

export type PinnedVersion = { readonly version: string; readonly version_id: string }

/** A version and an installation's overlays on it, whose requirements are to be checked. */
export interface VersionRequirements {
  readonly version_id: string
  readonly overlays: Overlays
}

/** The caller who changes an installation. `cause` identifies the request if it has an Idempotency-Key. */
export interface InstallationChange {
  readonly by: AuditActor
  readonly cause: string | null
}

type Step = 'upgraded' | 'rolled_back'

/** Most earlier versions that are kept for rollbacks. */
const maxBefore = 50
/** Most attempts of an optimistic update. In each round at least one of the concurrent writers succeeds. */
const maxTries = 100

/** Tenants' installations of agents: their version, overlays and policy. Changes of an installation are serialized. */
export class Installations {
  readonly table: Table<InstallationData>
  readonly #parts: InstallationParts

  constructor(parts: InstallationParts) {
    this.#parts = parts
    this.table = new Table(parts.records, agentInstallations, parts.now)
  }

  /**
   * Returns the version to pin a new installation to.
   *
   * @param version its name, or null for the newest published one.
   * @throws {ServiceError} `not_found` for an unknown version, `version_not_published`.
   */
  async versionFor(scope: Scope, agentId: string, version: string | null): Promise<PinnedVersion> {
    if (version !== null) return this.#published(scope, agentId, version)
    const newest = await this.#parts.catalogue.newest(scope, agentId)
    if (newest !== null) return this.#published(scope, agentId, newest.version)
    throw new ServiceError('version_not_published', {
      param: 'version',
      message: 'The agent has no published version.',
    })
  }

  /** Inserts a new row. Repeated after a crash, it returns the row that it inserted before. */
  async create(scope: Scope, row: NewRow<InstallationData>, by: AuditActor): Promise<Row<InstallationData>> {
    await this.#parts.checkNeeds(scope, row.data.agent_id, row.data)
    const notices = noticesOf('created', { by }, { id: row.id, data: row.data })
    return found((await this.table.insert({ ...row, notices })) ?? (await this.table.get(scope, row.id)))
  }

  /** @throws {ServiceError} `not_found`; for a scope that starts work (`scope.work`), as `checkTenant`. */
  async get(scope: Scope, id: string): Promise<Row<InstallationData>> {
    const row = found(await this.table.get(scope, id))
    if (scope.work === true && row.tenant !== null) await this.#parts.checkTenant(row.project, row.tenant)
    return row
  }

  /**
   * Changes overlays, policy, rate plan or status.
   *
   * @throws {ServiceError} `prerequisites_missing` for overlays of an active installation, and when it is enabled;
   * `not_found` when its agent was deleted.
   */
  async change(
    scope: Scope,
    id: string,
    {
      changes,
      by,
    }: {
      readonly changes: Partial<Pick<InstallationData, 'overlays' | 'approval_policy' | 'rate_plan_id' | 'status'>>
      readonly by: AuditActor
    },
  ): Promise<Row<InstallationData>> {
    const { data: known } = await this.get(scope, id)
    const wanted = { ...known, ...changes }
    const isNew = changes.overlays !== undefined || known.status !== 'active'
    if (wanted.status === 'active' && isNew) await this.#parts.checkNeeds(scope, wanted.agent_id, wanted)
    const edit = ({ data, tenant }: Row<InstallationData>) => {
      const { agent_id, status } = { ...data, ...changes }
      return unlessSame(data, { ...data, ...changes, ...installationKeys(tenant ?? '', agent_id, status) })
    }
    const notices = (next: Row<InstallationData>, before: Row<InstallationData>): readonly Notice[] => {
      const disabled = next.data.status === 'disabled' && before.data.status === 'active'
      return noticesOf(disabled ? 'disabled' : 'updated', { by, changes: fieldsChanged(before.data, next.data) }, next)
    }
    const row = found(await this.table.change(scope, id, { edit, notices }))
    if (changes.status !== undefined) this.#parts.credentialChanges?.changed()
    return row
  }

  /**
   * Moves to another version, or to the newest published one, which never moves to an older version. Of two concurrent
   * upgrades to one version the second changes nothing.
   *
   * @throws {ServiceError} `invalid_transition` while disabled; `not_found` and `version_not_published` for the
   * version; `prerequisites_missing`.
   */
  upgrade(
    scope: Scope,
    id: string,
    { version, mover }: { readonly version: string | null; readonly mover: InstallationChange },
  ): Promise<Row<InstallationData>> {
    return this.#move(scope, id, {
      mover,
      step: 'upgraded',
      next: async ({ data }) => {
        const target =
          version === null ? await this.#newer(scope, data) : await this.versionFor(scope, data.agent_id, version)
        if (target.version_id === data.version_id) return null
        await this.#parts.checkNeeds(scope, data.agent_id, { ...target, overlays: data.overlays })
        const { version: had, version_id } = data
        return { ...data, ...target, before: [...data.before, { version: had, version_id }].slice(-maxBefore) }
      },
    })
  }

  /**
   * Returns to the version before the last upgrade.
   *
   * @throws {ServiceError} `invalid_transition` while disabled, without an earlier version, or when that version is
   * retired.
   */
  rollback(scope: Scope, id: string, mover: InstallationChange): Promise<Row<InstallationData>> {
    return this.#move(scope, id, {
      mover,
      step: 'rolled_back',
      next: async ({ data }) => {
        const target = data.before.at(-1)
        if (target === undefined) throw notNow('There is no previous version. Upgrade to the version that you want.')
        const status = await this.#statusOf(scope, data.agent_id, target.version_id)
        if (status !== 'published' && status !== 'deprecated')
          throw notNow(`Version ${target.version} is retired. Upgrade to a published one.`)
        return { ...data, ...target, before: data.before.slice(0, -1) }
      },
    })
  }

  /** Disables all active installations of an agent that is deleted. */
  async disableAll(scope: Scope, agentId: string, by: AuditActor): Promise<void> {
    for (;;) {
      const rows = await this.activeOf(scope, agentId, 100)
      for (const { id } of rows) await this.change(scope, id, { changes: { status: 'disabled' }, by })
      if (rows.length < 100) return
    }
  }

  /** Active installations of an agent, at most `limit`. */
  activeOf({ project }: Scope, agentId: string, limit: number): Promise<readonly Row<InstallationData>[]> {
    return this.table.list(projectScope(project), { where: { agent_status: `${agentId} active` }, limit })
  }

  async #move(
    scope: Scope,
    id: string,
    {
      mover: { by, cause },
      step,
      next,
    }: {
      readonly mover: InstallationChange
      readonly step: Step
      readonly next: (row: Row<InstallationData>) => Promise<InstallationData | null>
    },
  ): Promise<Row<InstallationData>> {
    for (let tried = 0; tried < maxTries; tried += 1) {
      const row = await this.get(scope, id)
      // the request is repeated after a crash, and its change was already made
      if (cause !== null && row.data.moved_by === cause) return row
      if (row.data.status !== 'active')
        throw notNow('The installation is disabled. Enable it with installations.update first.')
      const data = await next(row)
      if (data === null) return row
      const moved = { ...data, moved_by: cause }
      const notices = (after: Row<InstallationData>) =>
        noticesOf(step, { by, changes: ['version'], previous: row.data.version }, after)
      const written = await this.table.replace(row, moved, { notices })
      if (written !== null) return written
    }
    throw new ServiceError('version_conflict')
  }

  /** Returns the newest published version; or the current version when that is not older and not retired. */
  async #newer(scope: Scope, data: InstallationData): Promise<PinnedVersion> {
    const newest = await this.#parts.catalogue.newest(scope, data.agent_id)
    const behind = newest === null || compareVersions(newest.version, data.version) <= 0
    if (behind && (await this.#statusOf(scope, data.agent_id, data.version_id)) !== 'retired') return data
    return this.versionFor(scope, data.agent_id, null)
  }

  async #published(scope: Scope, agentId: string, version: string): Promise<PinnedVersion> {
    const found = await this.#parts.versions.find(scope, agentId, version)
    const { id, state } = found
    const status = statusOf(agentVersionDefinition, state.snapshot)
    const text = String(state.snapshot.context.version)
    if (status === 'published') return { version: text, version_id: id }
    throw new ServiceError('version_not_published', { param: 'version', message: `Version ${text} is ${status}.` })
  }

  async #statusOf(scope: Scope, agentId: string, versionId: string) {
    return statusOf(agentVersionDefinition, (await this.#parts.versions.find(scope, agentId, versionId)).state.snapshot)
  }
}

/** Names of the changed fields that the API exposes, without the derived index keys. */
const fieldsChanged = (before: InstallationData, next: InstallationData): readonly string[] =>
  changedFields(before, next).filter((field) => !(field in installationKeys('', '', 'active')))

const notNow = (message: string): ServiceError => new ServiceError('invalid_transition', { message })

const found = <T>(row: T | null | undefined): T => orNotFound(row, 'installation_id')

const noticesOf = (
  what: 'created' | 'updated' | 'disabled' | Step,
  {
    by,
    changes = [],
    previous,
  }: { readonly by: AuditActor; readonly changes?: readonly string[]; readonly previous?: string },
  { id, data }: Pick<Row<InstallationData>, 'id' | 'data'>,
): readonly Notice[] => {
  const event_type: WebhookEventType = `installation.${what}`
  const { agent_id, version, status } = data
  const payload: JsonObject = { installation_id: id, agent_id, version, status }
  return [
    { kind: 'audit', action: event_type, by, resource: { type: 'installation', id }, changes },
    {
      kind: 'webhook',
      event_type,
      data: previous === undefined ? payload : { ...payload, previous_version: previous },
    },
  ]
}
