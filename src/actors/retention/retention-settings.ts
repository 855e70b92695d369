import type { Caller } from '#records/audit-note.ts'
import { bySystem } from '#records/audit-note.ts'
import { Audited } from '#records/audited.ts'
import type { Row, TypedKind } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { projectScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'

/** Days for which each kind is kept after its last change; null for good. */
export type RetentionDays = {
  readonly sessions_days: number | null
  readonly runs_days: number | null
  readonly actions_days: number | null
}

/** Settings of a project; times in ms since the epoch. */
export type RetentionData = RetentionDays & {
  readonly project: string
  readonly applied_at: number | null
}

/** One record a project that has settings, of the installation, so that one list finds them all. */
export const retentionKind: TypedKind<RetentionData> = {
  name: 'retention_settings',
  outbox: true,
  exported: null,
  ofProject: (project) => idOf(project),
}

const scope = projectScope('system')
const resource = 'retention_settings'

/** Where each project's settings are. */
export class RetentionSettings {
  readonly #table: Table<RetentionData>

  /** @param now ms since the epoch. */
  constructor(records: RecordStore, now: () => number) {
    this.#table = new Table(records, retentionKind, now)
  }

  /** Null for a project that keeps all for good. */
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

  /** Settings of all projects by id, after `after`. */
  page(after: string | undefined, limit: number): Promise<readonly Row<RetentionData>[]> {
    return this.#table.list(scope, { limit, ascending: true, ...(after !== undefined && { after }) })
  }

  /** @param kinds of what was deleted; the audit log names them. */
  async applied(project: string, at: number, kinds: readonly string[]): Promise<void> {
    const line = { kind: 'audit', action: `${resource}.applied`, by: bySystem, changes: kinds, project } as const
    await this.#table.change(scope, idOf(project), {
      edit: ({ data }) => ({ ...data, applied_at: at }),
      notices: () => [{ ...line, resource: { type: resource, id: idOf(project) } }],
    })
  }
}

const idOf = (project: string): string => `ret_${project.slice('prj_'.length)}`
