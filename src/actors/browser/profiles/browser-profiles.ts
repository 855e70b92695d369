import type { Services } from '#actors/capability/services.ts'
import { CountedLimits } from '#records/counted-limits.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/index.ts'
import { maxProfileBytes, maxProfiles } from '#specs/resources/web/browse-limits.ts'
import { projectScope } from '#storage/index.ts'
import { type ProfileState, profileState } from '../engine/schema.ts'
import { type BrowserProfileData, browserProfileRows, profileAad } from '../kinds.ts'

export interface ProfileOwner {
  readonly project: string
  readonly tenant: string | null
}

export type ProfileParts = Pick<Services, 'box' | 'log' | 'now' | 'records'>

/** Cookies and storage of jobs, encrypted, by tenant and name. Of two concurrent writes, the later one wins. */
export class BrowserProfiles {
  readonly #parts: ProfileParts
  readonly table: Table<BrowserProfileData>

  constructor(parts: ProfileParts) {
    this.#parts = parts
    this.table = new Table(parts.records, browserProfileRows, parts.now)
  }

  /**
   * Returns the initial state of a job; null when there is none, or it cannot be decrypted.
   *
   * @throws {StoreUnavailable}
   */
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

  /**
   * Saves the state that a job left, unless it is too large or the owner has the maximum number of profiles.
   *
   * @throws {StoreUnavailable}
   */
  async save({ project, tenant }: ProfileOwner, name: string, state: ProfileState): Promise<void> {
    const text = JSON.stringify(state)
    if (Buffer.byteLength(text) > maxProfileBytes) return
    const scope = projectScope(project)
    const key = { owner: tenant ?? '', name }
    const cookies = typeof state === 'object' ? state.cookies.length : 0
    const dataOf = (id: string) => ({ ...key, cookies, sealed: this.#parts.box.seal(text, profileAad(project, id)) })
    const known = await this.table.find(scope, key)
    if (known === null) {
      const id = newId('bpr')
      const limit = { max: maxProfiles, count: () => this.table.count(scope, { owner: key.owner }) }
      const insert = () => this.table.insert({ id, project, tenant, data: dataOf(id) })
      const limits = CountedLimits.at(this.#parts.records)
      const made = await limits.orFull(`browser profiles ${project} ${key.owner}`, limit, insert)
      if (made !== null && made !== 'full') return
    }
    // the name may have been taken by a job that ended at the same time, also as the last profile of the limit
    const row = known ?? (await this.table.find(scope, key))
    if (row !== null) await this.table.change(scope, row.id, { edit: () => dataOf(row.id) })
  }
}
