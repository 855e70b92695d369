import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope, type RecordStore, type Scope } from '#storage/index.ts'
import { orNotFound } from '../call/not-found.ts'
import type { Notice } from '../records/notices.ts'
import type { Row } from '../records/schema.ts'
import { compareVersions } from '../records/semver.ts'
import { Table } from '../records/table.ts'
import {
  type Override,
  type SkillData,
  type SkillVersionData,
  skillStatus,
  skills,
  skillVersions,
  type VersionStatus,
} from './kinds.ts'
import { LatestVersions } from './latest-versions.ts'

/** A version to create. */
export interface NewVersion
  extends Pick<SkillVersionData, 'skill_id' | 'version' | 'description' | 'files' | 'findings' | 'created_by'> {
  readonly id: string
  readonly notices: readonly Notice[]
}

/** Reference of an agent to a skill: a version, or null for the latest published one. */
export interface SkillReference {
  readonly skillId: string
  readonly version: string | null
}

const maxVersions = 1000

/** Stores skills and their versions. */
export class SkillVersions {
  readonly skills: Table<SkillData>
  readonly table: Table<SkillVersionData>
  readonly #now: () => number
  readonly #latest: LatestVersions

  constructor(records: RecordStore, now: () => number) {
    this.skills = new Table(records, skills, now)
    this.table = new Table(records, skillVersions, now)
    this.#now = now
    this.#latest = new LatestVersions(this.skills, this.table)
  }

  /** Returns a skill. @throws {ServiceError} `not_found` with the param `skill_id` */
  async skill({ project }: Scope, id: string): Promise<Row<SkillData>> {
    return orNotFound(await this.skills.get(projectScope(project), id), 'skill_id', 'There is no such skill.')
  }

  /** Returns a version. @throws {ServiceError} `not_found` with the param `version` */
  async find({ project }: Scope, skillId: string, version: string): Promise<Row<SkillVersionData>> {
    const found = await this.table.find(projectScope(project), { skill_id: skillId, version })
    return orNotFound(found, 'version', 'There is no such version.')
  }

  /**
   * Creates a draft, or returns the one that the same request created before.
   *
   * @throws {ServiceError} `already_exists`
   */
  async draft({ project }: Scope, { id, notices, ...data }: NewVersion): Promise<Row<SkillVersionData>> {
    const made = await this.table.insert({
      id,
      project,
      data: { ...data, ...draftState(data.skill_id), overrides: [], published_at: null, deprecated_at: null },
      notices,
    })
    const row = made ?? (await this.table.get(projectScope(project), id))
    if (row !== null) return row
    throw new ServiceError('already_exists', {
      param: 'version',
      message: 'The skill already has a version with this number.',
    })
  }

  /**
   * Publishes a draft. The write of the version alone decides: before it, the skill only notes that the version may be
   * the latest one, so a process that dies in between has published nothing.
   *
   * @throws {ServiceError} `invalid_transition` when it is not a draft, `scan_blocked`
   */
  async publish(
    row: Row<SkillVersionData>,
    {
      override,
      noticesOf,
    }: { readonly override: readonly Override[]; readonly noticesOf: (id: string) => readonly Notice[] },
  ): Promise<Row<SkillVersionData>> {
    const edit = (data: SkillVersionData): SkillVersionData => {
      if (data.status !== 'draft') throw invalid(data.status)
      requireUnblocked(data, override)
      return { ...data, ...stateOf(data.skill_id, 'published'), overrides: override, published_at: this.#now() }
    }
    edit(row.data)
    await this.#latest.propose(row)
    return this.#moved(row, noticesOf, edit)
  }

  /**
   * Deprecates a version. Only the write of the version counts; a candidate that a crash leaves in the skill is skipped.
   *
   * @throws {ServiceError} `invalid_transition` when it is not published
   */
  async deprecate(
    row: Row<SkillVersionData>,
    noticesOf: (id: string) => readonly Notice[],
  ): Promise<Row<SkillVersionData>> {
    const deprecated = await this.#moved(row, noticesOf, (data) => {
      if (data.status !== 'published') throw invalid(data.status)
      return { ...data, ...stateOf(data.skill_id, 'deprecated'), deprecated_at: this.#now() }
    })
    await this.#latest.withdraw(row)
    return deprecated
  }

  /** Returns the latest published version of each skill, by the skill's id; a skill without one is missing. */
  latest(skills: readonly Row<SkillData>[]): Promise<ReadonlyMap<string, Row<SkillVersionData>>> {
    return this.#latest.of(skills)
  }

  /**
   * Returns the version that an agent's reference resolves to; null when it is not published. A version that is
   * referenced explicitly may be deprecated.
   */
  async resolve(project: string, { skillId, version }: SkillReference): Promise<Row<SkillVersionData> | null> {
    const scope = projectScope(project)
    if (version === null) {
      const skill = await this.skills.get(scope, skillId)
      return skill === null ? null : ((await this.latest([skill])).get(skillId) ?? null)
    }
    const row = await this.table.find(scope, { skill_id: skillId, version })
    return row === null || row.data.status === 'draft' ? null : row
  }

  /** Returns the version numbers of a skill, highest first. */
  async numbers(project: string, skillId: string): Promise<readonly string[]> {
    const rows = await this.table.list(projectScope(project), { where: { skill_id: skillId }, limit: maxVersions })
    return rows.map(({ data }) => data.version).sort((a, b) => compareVersions(b, a))
  }

  async #moved(
    row: Row<SkillVersionData>,
    noticesOf: (id: string) => readonly Notice[],
    edit: (data: SkillVersionData) => SkillVersionData,
  ): Promise<Row<SkillVersionData>> {
    const moved = await this.table.change(projectScope(row.project), row.id, {
      edit: ({ data }) => edit(data),
      notices: ({ id }) => noticesOf(id),
    })
    if (moved === null) throw new ServiceError('not_found', { param: 'version' })
    return moved
  }
}

const stateOf = (skillId: string, status: VersionStatus) => ({ status, skill_status: skillStatus(skillId, status) })
const draftState = (skillId: string) => stateOf(skillId, 'draft')

const invalid = (status: VersionStatus): ServiceError =>
  new ServiceError('invalid_transition', { message: `The version is ${status}.` })

/**
 * Requires that all blockers are accepted.
 *
 * @throws {ServiceError} `scan_blocked`, which names the first ones that are not
 */
export const requireUnblocked = (
  { findings }: Pick<SkillVersionData, 'findings'>,
  override: readonly Override[],
): void => {
  const accepted = new Set(override.map(({ code }) => code))
  const open = findings.filter(({ severity, code }) => severity === 'blocker' && !accepted.has(code))
  if (open.length === 0) return
  const named = open.slice(0, 5).map(({ code, path, line }) => `${code} (${path}:${line})`)
  const more = open.length > named.length ? ` and ${open.length - named.length} more` : ''
  throw new ServiceError('scan_blocked', { message: `The scan found ${named.join(', ')}${more}.` })
}
