import { organizationScope } from '#storage/index.ts'
import type { Services } from '../capability/services.ts'
import { RecheckCache } from '../records/caches/recheck-cache.ts'
import { type SealedSecrets, signingSecrets } from '../records/sealing/rotated-secrets.ts'
import type { SecretBox } from '../records/secret-box.ts'
import { newSigningSecret } from '../records/secrets.ts'
import { Table } from '../records/table.ts'
import { type ProjectData, type ProjectMemory, projects, signingAad, signingOf } from './kinds.ts'

/** The settings of a project that the runtime and the transport read. */
export interface ProjectSettings {
  readonly organization: string
  readonly name: string
  /** Origins that browsers may call client-token routes from; `*` for any. */
  readonly allowedOrigins: readonly string[]
  /** Whether personal data is redacted unless the project's policy says otherwise. */
  readonly redactsByDefault: boolean
  /** Whether the project is being deleted: its keys are refused, and nothing in it can be changed. */
  readonly deleting?: boolean
  /** Caps and retention of memory; absent: the defaults. */
  readonly memory?: ProjectMemory | undefined
  /** Model that reads the text of images and scans of knowledge bases; null or absent: none. */
  readonly visionModel?: string | null
  /** Pages to which the sign-in of a connection may return; absent or empty: any. */
  readonly returnUrls?: readonly string[]
  /** Whether remote tool servers can only be referred to by their registration. */
  readonly registeredServersOnly?: boolean
  /** Model that reviews skills for their meaning; absent or null: none. */
  readonly skillReviewModel?: string | null
}

interface CachedProject extends ProjectSettings {
  readonly signing: SealedSecrets
}

/** How long another node may still see a project's earlier settings, in ms. */
const recheckMs = 1000

const maxCached = 10_000

export type ProjectDirectoryParts = Pick<Services, 'records' | 'box' | 'now' | 'credentialChanges'>

/** Looks up projects by their id alone; cached for a second. */
export class ProjectDirectory {
  readonly #table: Table<ProjectData>
  readonly #box: SecretBox
  readonly #now: () => number
  readonly #cache: RecheckCache<CachedProject>

  constructor({ records, box, now, credentialChanges: changes }: ProjectDirectoryParts) {
    this.#table = new Table(records, projects, now)
    this.#box = box
    this.#now = now
    this.#cache = new RecheckCache({
      load: (project) => this.#load(project),
      maxAgeMs: recheckMs,
      maxEntries: maxCached,
      now,
      changes,
    })
  }

  /**
   * Returns a project's settings; null for an unknown project. Synchronous for a project looked up within the last
   * second.
   */
  settings(project: string): ProjectSettings | null | Promise<ProjectSettings | null> {
    return this.#known(project)
  }

  /**
   * Returns the secrets (`whsec_…`) that sign requests to the project's http tools, several during a rotation; null
   * for an unknown project.
   */
  async signingSecrets(project: string): Promise<readonly string[] | null> {
    const known = await this.#known(project)
    if (known === null) return null
    return signingSecrets(known.signing, { box: this.#box, aad: signingAad(project), now: this.#now() })
  }

  /** Returns the oldest project of an organisation that is not being deleted: the default of a dashboard request. */
  async first(organization: string): Promise<string | null> {
    const scope = organizationScope(organization)
    for (let limit = 1; ; limit *= 10) {
      const rows = await this.#table.list(scope, { limit, ascending: true })
      const row = rows.find(({ data }) => data.deletion === undefined)
      if (row !== undefined || rows.length < limit) return row?.id ?? null
    }
  }

  /** Whether an organisation has another project that is not being deleted. */
  async hasOther(organization: string, project: string): Promise<boolean> {
    const rows = await this.#table.list(organizationScope(organization), { limit: 1000 })
    return rows.some(({ id, data }) => id !== project && data.deletion === undefined)
  }

  /** Returns the row data of a new project. */
  newData(project: string, name: string, allowedOrigins: readonly string[]): ProjectData {
    return {
      project_id: project,
      name,
      allowed_origins: allowedOrigins,
      signing_secret: this.#box.seal(newSigningSecret(), signingAad(project)),
      redacts_by_default: true,
    }
  }

  /** Drops the cached project on this node: call it after every change of its row. */
  forget(project: string): void {
    this.#cache.forget(project)
  }

  #known(project: string): CachedProject | Promise<CachedProject | null> {
    return this.#cache.peek(project) ?? this.#cache.load(project)
  }

  async #load(project: string): Promise<CachedProject | null> {
    const row = await this.#table.findGlobal({ project_id: project })
    if (row === null) return null
    const { name, memory, allowed_origins: allowedOrigins } = row.data
    const redactsByDefault = row.data.redacts_by_default === true
    const signing = signingOf(row.data)
    const deleting = row.data.deletion !== undefined
    const returnUrls = row.data.return_urls ?? []
    const registeredServersOnly = row.data.remote_servers === 'registered'
    const skillReviewModel = row.data.skill_review_model ?? null
    const policy = { allowedOrigins, redactsByDefault, returnUrls, registeredServersOnly, skillReviewModel }
    const visionModel = row.data.knowledge?.vision_model ?? null
    return { organization: row.project, name, deleting, memory, visionModel, signing, ...policy }
  }
}
