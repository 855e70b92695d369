import type { Notice } from '#records/notices.ts'
import { RecheckCache } from '#records/recheck-cache.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { projectScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import { type RequestLogSettingsData, requestLogSettings } from './kinds.ts'

/** How a project has its request log that never said otherwise. */
export const defaultLogSettings: RequestLogSettingsData = { mode: 'bodies', retention_days: 30 }

/** How long other nodes may go by what was set before, in ms. */
const recheckMs = 5_000
const maxCached = 10_000

/** What projects want of their request log, cached for some seconds. */
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

  /** Answers without a promise for a project in steady use. */
  of(project: string): RequestLogSettingsData | Promise<RequestLogSettingsData> {
    return this.#cache.peek(project) ?? this.#cache.load(project).then((loaded) => loaded ?? defaultLogSettings)
  }

  /** As the store has it now. */
  async read(project: string): Promise<RequestLogSettingsData> {
    return (await this.#row(project))?.data ?? defaultLogSettings
  }

  /**
   * @param line what the audit log says of it.
   * @returns how it is from now on.
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

/** The id of a project's row. */
export const logSettingsId = (project: string): string => `rls_${project.slice('prj_'.length)}`
