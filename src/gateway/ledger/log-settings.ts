import type { Notice } from '#records/notices.ts'
import { RecheckCache } from '#records/recheck-cache.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { projectScope, type RecordStore } from '#storage/index.ts'
import { type RequestLogSettingsData, requestLogSettings } from './kinds.ts'

/** Request log settings of a project that has not set any. */
const defaultLogSettings: RequestLogSettingsData = { mode: 'bodies', retention_days: 30 }

/** Maximum time in ms that other nodes apply old settings. */
const recheckMs = 5_000
const maxCached = 10_000

/** Request log settings of projects, cached for some seconds. */
export class LogSettings {
  readonly #table: Table<RequestLogSettingsData>
  readonly #cache: RecheckCache<RequestLogSettingsData>

  /** @param now ms since the epoch. */
  constructor(records: RecordStore, now: () => number) {
    this.#table = new Table(records, requestLogSettings, now)
    this.#cache = new RecheckCache({
      load: async (project) => (await this.#row(project))?.data ?? defaultLogSettings,
      maxAgeMs: recheckMs,
      maxEntries: maxCached,
      now,
    })
  }

  /** Returns the settings of a project; synchronously for a project in steady use. */
  of(project: string): RequestLogSettingsData | Promise<RequestLogSettingsData> {
    return this.#cache.peek(project) ?? this.#cache.load(project).then((loaded) => loaded ?? defaultLogSettings)
  }

  /** Returns the settings currently in the store. */
  async read(project: string): Promise<RequestLogSettingsData> {
    return (await this.#row(project))?.data ?? defaultLogSettings
  }

  /**
   * Stores the settings of a project.
   *
   * @param line the entry for the audit log.
   * @returns the new settings.
   */
  async set(project: string, data: RequestLogSettingsData, line: Notice): Promise<RequestLogSettingsData> {
    const id = logSettingsId(project)
    const made = await this.#table.insert({ id, project, data, notices: [line] })
    if (made === null) await this.#table.change(projectScope(project), id, { edit: () => data, notices: () => [line] })
    this.#cache.forget(project)
    return data
  }

  #row(project: string): Promise<Row<RequestLogSettingsData> | null> {
    return this.#table.get(projectScope(project), logSettingsId(project))
  }
}

/** Returns the id of a project's row. */
export const logSettingsId = (project: string): string => `rls_${project.slice('prj_'.length)}`
