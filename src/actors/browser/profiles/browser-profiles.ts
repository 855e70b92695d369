import type { Logger } from 'pino'
import type { SecretBox } from '#records/secret-box.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/ids.ts'
import { maxProfileBytes, maxProfiles } from '#specs/resources/web/browse-limits.ts'
import { projectScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import { type ProfileState, profileState } from '../engine/schema.ts'
import { type BrowserProfileData, browserProfileRows, profileAad } from '../kinds.ts'

/** Whose a profile is. */
export interface ProfileOwner {
  readonly project: string
  readonly tenant: string | null
}

/** What profiles are kept with. */
export interface ProfileParts {
  readonly records: RecordStore
  readonly box: SecretBox
  /** ms since the epoch. */
  readonly now: () => number
  readonly log: Logger
}

/** Cookies and storage of jobs, sealed, by tenant and name. Of two jobs that keep one at the same time the later wins. */
export class BrowserProfiles {
  readonly #parts: ProfileParts
  readonly table: Table<BrowserProfileData>

  constructor(parts: ProfileParts) {
    this.#parts = parts
    this.table = new Table(parts.records, browserProfileRows, parts.now)
  }

  /** What a job starts with; null when nothing is kept, or it cannot be opened. @throws {StoreUnavailable} */
  async open({ project, tenant }: ProfileOwner, name: string): Promise<ProfileState | null> {
    const row = await this.table.find(projectScope(project), { owner: tenant ?? '', name })
    if (row === null) return null
    try {
      return profileState(this.#parts.box.open(row.data.sealed, profileAad(project, row.id)))
    } catch (error) {
      this.#parts.log.warn({ profile: row.id, err: error }, 'browser profile cannot be opened')
      return null
    }
  }

  /** Keeps what a job left. What is too large, or one too many, is not kept. @throws {StoreUnavailable} */
  async save({ project, tenant }: ProfileOwner, name: string, state: ProfileState): Promise<void> {
    const text = JSON.stringify(state)
    if (Buffer.byteLength(text) > maxProfileBytes) return
    const scope = projectScope(project)
    const key = { owner: tenant ?? '', name }
    const cookies = typeof state === 'object' ? state.cookies.length : 0
    const dataOf = (id: string) => ({ ...key, cookies, sealed: this.#parts.box.seal(text, profileAad(project, id)) })
    const known = await this.table.find(scope, key)
    if (known === null) {
      if ((await this.table.count(scope, { owner: key.owner })) >= maxProfiles) return
      const id = newId('bpr')
      if ((await this.table.insert({ id, project, tenant, data: dataOf(id) })) !== null) return
    }
    const row = known ?? (await this.table.find(scope, key))
    if (row !== null) await this.table.change(scope, row.id, { edit: () => dataOf(row.id) })
  }
}
