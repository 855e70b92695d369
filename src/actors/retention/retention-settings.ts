import type { Caller } from '#records/audit-note.ts'
import { bySystem } from '#records/audit-note.ts'
import { Audited } from '#records/audited.ts'
import type { Row, TypedKind } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { projectScope, type RecordStore } from '#storage/index.ts'

/** Days for which items are kept after their last change; null keeps them forever. */
export type RetentionDays = {
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

const scope = projectScope('system')
const resource = 'retention_settings'

/** Reads and writes the retention settings of projects. */
export class RetentionSettings {
  readonly #table: Table<RetentionData>

  /** @param now ms since the epoch. */
  constructor(records: RecordStore, now: () => number) {
    this.#table = new Table(records, retentionKind, now)
  }

  /** Returns a project's settings; null for a project without settings, which keeps everything. */
  async of(project: string): Promise<RetentionData | null> {
    return (await this.#table.get(scope, idOf(project)))?.data ?? null
  }

  async set(project: string, days: RetentionDays, caller: Caller): Promise<RetentionData> {
    const audited = new Audited(caller, resource, project)
    const data: RetentionData = { ...days, project, applied_at: null }
    const id = idOf(project)
    const made = await this.#table.insert({ id, project: scope.project, data, notices: [audited.line('created', id)] })
    const edit = (row: Row<RetentionData>): RetentionData => ({ ...row.data, ...days })
    const row = made ?? (await this.#table.change(scope, id, { edit, notices: audited.changed() }))
    return row?.data ?? data
  }

  /** Returns settings of all projects, in order of id, after `after`. */
  page(after: string | undefined, limit: number): Promise<readonly Row<RetentionData>[]> {
    return this.#table.list(scope, { limit, ascending: true, ...(after !== undefined && { after }) })
  }

  /** Records that retention deleted items. @param kinds of the deleted items, which the audit log names. */
  async applied(project: string, at: number, kinds: readonly string[]): Promise<void> {
    const line = { kind: 'audit', action: `${resource}.applied`, by: bySystem, changes: kinds, project } as const
    await this.#table.change(scope, idOf(project), {
      edit: ({ data }) => ({ ...data, applied_at: at }),
      notices: () => [{ ...line, resource: { type: resource, id: idOf(project) } }],
    })
  }
}

const idOf = (project: string): string => `ret_${project.slice('prj_'.length)}`
