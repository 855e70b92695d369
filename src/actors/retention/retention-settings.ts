import { bySystem } from '#records/audit-note.ts'
import type { Row, TypedKind } from '#records/schema.ts'
import { projectScope, type RecordStore } from '#storage/index.ts'
import { ProjectSetting, type SettingDeclaration } from '../capability/project-setting.ts'

/** Days for which items are kept after their last change; null keeps them forever. */
type RetentionDays = {
  readonly sessions_days: number | null
  readonly runs_days: number | null
  readonly actions_days: number | null
}

/** Settings of a project; `applied_at` in ms since the epoch. */
export type RetentionData = RetentionDays & {
  readonly project: string
  readonly applied_at: number | null
}

/**
 * Retention settings, one record per project. They are stored at installation level, so that a single list finds them
 * all.
 */
export const retentionKind: TypedKind<RetentionData> = {
  name: 'retention_settings',
  outbox: true,
  exported: null,
  ofProject: (project) => idOf(project),
}

/** Reads and writes the retention settings of projects. */
export class RetentionSettings extends ProjectSetting<RetentionData> {
  /** @param now ms since the epoch. */
  constructor(records: RecordStore, now: () => number) {
    super({ records, now }, declaration, (project) => ({ ...unlimited, project }))
  }

  /** Returns settings of all projects, in order of id, after `after`. */
  page(after: string | undefined, limit: number): Promise<readonly Row<RetentionData>[]> {
    return this.table.list(projectScope(owner), { limit, ascending: true, ...(after !== undefined && { after }) })
  }

  /** Records that retention deleted items. @param kinds of the deleted items, which the audit log names. */
  async applied(project: string, at: number, kinds: readonly string[]): Promise<void> {
    const line = { kind: 'audit', action: 'retention_settings.applied', by: bySystem, changes: kinds, project } as const
    await this.table.change(...this.place(project), {
      edit: ({ data }) => ({ ...data, applied_at: at }),
      notices: ({ id }) => [{ ...line, resource: { type: 'retention_settings', id } }],
    })
  }
}

const owner = 'system'

/** Settings that keep everything; a project without settings has them. */
const unlimited: RetentionData = {
  ...{ sessions_days: null, runs_days: null, actions_days: null, applied_at: null },
  project: '',
}

const declaration: SettingDeclaration<RetentionData> = {
  ...{ name: 'retention_settings', kind: retentionKind, idPrefix: 'ret', owner },
  ...{ defaults: unlimited, first: 'created' },
}

const idOf = (project: string): string => `ret_${project.slice('prj_'.length)}`
