import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope } from '#storage/index.ts'
import type { Row } from '../records/schema.ts'
import { compareVersions } from '../records/semver.ts'
import type { Table } from '../records/table.ts'
import { type Candidate, type SkillData, type SkillVersionData, skillStatus } from './kinds.ts'

type VersionRow = Row<SkillVersionData>

const maxVersions = 1000

/** Candidates of one skill that are read at once, after the first one was not published. */
const readAtOnce = 16

/**
 * Derives the latest published version of skills.
 *
 * A skill holds its candidates: every version that is published, and maybe others. A version becomes a candidate before
 * it is published, and stops being one after it is deprecated, which is final. So whatever a crash leaves out, the
 * highest candidate that is published is the latest version.
 */
export class LatestVersions {
  readonly #skills: Table<SkillData>
  readonly #versions: Table<SkillVersionData>

  constructor(skills: Table<SkillData>, versions: Table<SkillVersionData>) {
    this.#skills = skills
    this.#versions = versions
  }

  /** Returns the latest published version of each skill, by the skill's id; a skill without one is missing. */
  async of(skills: readonly Row<SkillData>[]): Promise<ReadonlyMap<string, VersionRow>> {
    const open = await Promise.all(
      skills.map(async (skill) => ({
        ...{ id: skill.id, project: skill.project },
        rest: skill.data.candidates ?? (await this.#published(skill.project, skill.id)),
      })),
    )
    const latest = new Map<string, VersionRow>()
    for (let some = 1, left = open; left.some(({ rest }) => rest.length > 0); some = readAtOnce) {
      const rows = await this.#rows(
        left.flatMap(({ project, rest }) => rest.slice(0, some).map(({ id }) => ({ project, id }))),
      )
      for (const { id, rest } of left) {
        const first = rest.slice(0, some).find((each) => rows.get(each.id)?.data.status === 'published')
        const row = first === undefined ? undefined : rows.get(first.id)
        if (row !== undefined) latest.set(id, row)
      }
      left = left.filter(({ id }) => !latest.has(id)).map((each) => ({ ...each, rest: each.rest.slice(some) }))
    }
    return latest
  }

  /** Notes that a version is about to be published. @throws {ServiceError} `not_found` for a skill that is gone */
  async propose({ id, project, data: { skill_id, version } }: VersionRow): Promise<void> {
    const scope = projectScope(project)
    const isListed = (await this.#skills.get(scope, skill_id))?.data.candidates !== undefined
    const published = isListed ? [] : await this.#published(project, skill_id)
    const changed = await this.#skills.change(scope, skill_id, {
      edit: ({ data }) => {
        const known = data.candidates ?? published
        if (data.candidates !== undefined && known.some((each) => each.id === id)) return null
        return { ...data, candidates: highestFirst([...known.filter((each) => each.id !== id), { version, id }]) }
      },
    })
    if (changed === null) throw new ServiceError('not_found', { param: 'skill_id', message: 'There is no such skill.' })
  }

  /** Removes a version that is deprecated from the candidates, so that readers need not skip it. */
  async withdraw({ id, project, data: { skill_id } }: VersionRow): Promise<void> {
    await this.#skills.change(projectScope(project), skill_id, {
      edit: ({ data }) => {
        const kept = data.candidates?.filter((each) => each.id !== id)
        return kept === undefined || kept.length === data.candidates?.length ? null : { ...data, candidates: kept }
      },
    })
  }

  /** Reads rows of versions by their ids. The skills of one call belong to one project, or to few. */
  async #rows(
    named: readonly { readonly project: string; readonly id: string }[],
  ): Promise<ReadonlyMap<string, VersionRow>> {
    const projects = [...new Set(named.map(({ project }) => project))]
    const found = await Promise.all(
      projects.map((project) =>
        this.#versions.getMany(
          projectScope(project),
          named.filter((each) => each.project === project).map(({ id }) => id),
        ),
      ),
    )
    return new Map(found.flatMap((rows) => [...rows]))
  }

  /** Returns the published versions of a skill, highest first. */
  async #published(project: string, skillId: string): Promise<readonly Candidate[]> {
    const where = { skill_status: skillStatus(skillId, 'published') }
    const rows = await this.#versions.list(projectScope(project), { where, limit: maxVersions })
    return highestFirst(rows.map(({ id, data }) => ({ version: data.version, id })))
  }
}

const highestFirst = (candidates: readonly Candidate[]): readonly Candidate[] =>
  [...candidates].sort((a, b) => compareVersions(b.version, a.version))
