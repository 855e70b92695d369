import type { ProjectDirectory } from '#actors/accounts/project-directory.ts'
import type { Services } from '#actors/capability/services.ts'
import { RecheckCache } from '#records/caches/recheck-cache.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { type FanOut, organizationScope, projectScope } from '#storage/index.ts'
import type { Payer } from '../call/caller.ts'
import { type CreditData, credits, type LimitData, limits, subjectKey } from './kinds.ts'

/** Maximum time in ms that another node applies an old limit, if no notification reaches it. */
const recheckMs = 5_000
const maxProjects = 10_000
const maxSubjects = 50_000
/**
 * Maximum number of limits of a project that are cached together; those of a project with more are read individually.
 */
const keptTogether = 500

const topic = 'limits'

/** The limits and credits of a project. */
export interface ProjectLimits {
  /** By subject; null when there are too many to cache together. */
  readonly bySubject: ReadonlyMap<string, Row<LimitData>> | null
  /** Credits of the project's organisation; null when it does not need credits. */
  readonly credits: Row<CreditData> | null
}

export interface LimitBookParts extends Pick<Services, 'now' | 'records'> {
  readonly projects: Pick<ProjectDirectory, 'settings'>
  readonly fanOut?: Pick<FanOut, 'announce' | 'subscribe'> | undefined
}

/** Limits and credits by project, cached for some seconds; other nodes are notified of changes. */
export class LimitCache {
  readonly #table: Table<LimitData>
  readonly #credits: Table<CreditData>
  readonly #parts: LimitBookParts
  readonly #projects: RecheckCache<ProjectLimits>
  readonly #subjects: RecheckCache<{ readonly limit: Row<LimitData> | null }>

  constructor(parts: LimitBookParts) {
    const { records, fanOut, now } = parts
    this.#parts = parts
    this.#table = new Table(records, limits, now)
    this.#credits = new Table(records, credits, now)
    const cache = { maxAgeMs: recheckMs, now }
    this.#projects = new RecheckCache({ ...cache, maxEntries: maxProjects, load: (project) => this.#load(project) })
    this.#subjects = new RecheckCache({ ...cache, maxEntries: maxSubjects, load: (key) => this.#loadSubject(key) })
    fanOut?.subscribe(topic, ({ project }) => this.#heard(project))
  }

  /** Returns the limits of a project if they are cached. */
  peek(project: string): ProjectLimits | undefined {
    return this.#projects.peek(project)
  }

  /** @throws {StoreUnavailable} */
  async of(project: string): Promise<ProjectLimits> {
    return this.#projects.peek(project) ?? (await this.#projects.load(project)) ?? none
  }

  /** Returns the limits that apply to a caller, the narrowest first. @throws {StoreUnavailable} */
  async forCaller({ project, tenant, keyId }: Payer): Promise<readonly Row<LimitData>[]> {
    const { bySubject } = await this.of(project)
    const subjects = [
      ...(keyId === null ? [] : [subjectKey('key', keyId)]),
      ...(tenant === null ? [] : [subjectKey('tenant', tenant)]),
      subjectKey('project', null),
    ]
    const found = await Promise.all(
      subjects.map((subject) =>
        bySubject === null ? this.#limitOf(project, subject) : (bySubject.get(subject) ?? null),
      ),
    )
    return found.filter((row) => row !== null)
  }

  /** Makes every node read the store again; must be called after each change of a limit or of credits. */
  changed(project: string): void {
    this.#heard(project)
    this.#parts.fanOut?.announce(topic, { project })
  }

  #heard(project: unknown): void {
    if (typeof project === 'string') this.#projects.forget(project)
    this.#subjects.clear()
  }

  async #limitOf(project: string, subject: string): Promise<Row<LimitData> | null> {
    const key = `${project}/${subject}`
    const known = this.#subjects.peek(key) ?? (await this.#subjects.load(key))
    return known?.limit ?? null
  }

  async #load(project: string): Promise<ProjectLimits> {
    const rows = await this.#table.list(projectScope(project), { limit: keptTogether + 1 })
    const bySubject = rows.length > keptTogether ? null : new Map(rows.map((row) => [row.data.subject_key, row]))
    return { bySubject, credits: await this.#creditsOf(project) }
  }

  async #creditsOf(project: string): Promise<Row<CreditData> | null> {
    const settings = await this.#parts.projects.settings(project)
    if (settings === null) return null
    const { organization } = settings
    return this.#credits.get(organizationScope(organization), creditsId(organization))
  }

  async #loadSubject(key: string): Promise<{ readonly limit: Row<LimitData> | null }> {
    const slash = key.indexOf('/')
    const [project, subject_key] = [key.slice(0, slash), key.slice(slash + 1)]
    return { limit: await this.#table.find(projectScope(project), { subject_key }) }
  }
}

const none: ProjectLimits = { bySubject: new Map(), credits: null }

/** Returns the id of an organisation's credits. */
export const creditsId = (organization: string): string => `crd_${organization.slice('org_'.length)}`
