import { ProjectSetting } from '#actors/capability/project-setting.ts'
import { RecheckCache } from '#records/caches/recheck-cache.ts'
import type { RecordStore } from '#storage/index.ts'
import { type RequestLogSettingsData, requestLogSettings } from './kinds.ts'

/** Maximum time in ms that other nodes apply old settings. */
const recheckMs = 5_000
const maxCached = 10_000

/** Request log settings of projects, cached for some seconds. */
export class LogSettings {
  readonly setting: ProjectSetting<RequestLogSettingsData>
  readonly #cache: RecheckCache<RequestLogSettingsData>

  /** @param now ms since the epoch. */
  constructor(records: RecordStore, now: () => number) {
    this.setting = new ProjectSetting(
      { records, now },
      {
        ...{ name: 'request_log_settings', kind: requestLogSettings, idPrefix: 'rls' },
        ...{ defaults: { mode: 'bodies', retention_days: 30 }, first: 'updated', nameless: true },
      },
    )
    this.#cache = new RecheckCache({
      load: (project) => this.read(project),
      maxAgeMs: recheckMs,
      maxEntries: maxCached,
      now,
    })
  }

  /** Returns the settings of a project; synchronously for a project in steady use. */
  of(project: string): RequestLogSettingsData | Promise<RequestLogSettingsData> {
    return this.#cache.peek(project) ?? this.#cache.load(project).then((loaded) => loaded ?? this.read(project))
  }

  /** Returns the settings currently in the store. */
  async read(project: string): Promise<RequestLogSettingsData> {
    return (await this.setting.read(project)).data
  }

  /** Applies changed settings at once on this node. */
  changed(project: string): void {
    this.#cache.forget(project)
  }
}
