import type { JsonObject } from '#specs/dsl/json.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf, OperationId } from '#specs/index.ts'
import { projectScope, type Scope } from '#storage/index.ts'
import type { Call } from '../call/call.ts'
import type { AnyUseCase, UseCasesOf } from '../call/use-cases.ts'
import { type Caller, changedFields } from '../records/audit-note.ts'
import { Audited } from '../records/audited.ts'
import { timestampOf } from '../records/row-times.ts'
import type { Row, TypedKind } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import type { Services } from './services.ts'

/** A setting of a project: at most one row, which the first change stores. Until then the defaults apply. */
export interface SettingDeclaration<T extends JsonObject> {
  /** Name of the resource, as in its operations and in the audit log. */
  readonly name: string
  readonly kind: TypedKind<T>
  /** Prefix of the row's id; the rest is that of the project. */
  readonly idPrefix: string
  readonly defaults: T
  /** Upgrades data of an earlier version. */
  readonly upgraded?: (data: T) => T
  /** Project that stores the rows of all projects. Absent: each stores its own. */
  readonly owner?: string
  /** What the audit log says of the first change. Absent: `updated`, with the names of the changed fields. */
  readonly first?: 'created' | 'updated'
  /** Whether later changes are logged without the names of the fields. */
  readonly nameless?: true
}

/** Stores a setting of projects, with an audit log entry for each change. */
export class ProjectSetting<T extends JsonObject> {
  readonly table: Table<T>
  readonly #declared: SettingDeclaration<T>
  readonly #defaults: (project: string) => T | Promise<T>

  /** @param defaults those of a project, where they differ. */
  constructor(
    { records, now }: Pick<Services, 'now' | 'records'>,
    declared: SettingDeclaration<T>,
    defaults: (project: string) => T | Promise<T> = () => declared.defaults,
  ) {
    this.table = new Table(records, declared.kind, now)
    this.#declared = declared
    this.#defaults = defaults
  }

  /** Returns the row of a project; null for one that never changed the setting. */
  async row(project: string): Promise<Row<T> | null> {
    const row = await this.table.get(...this.place(project))
    return row && { ...row, data: this.#upgraded(row.data) }
  }

  /** Returns what is in effect for a project, and when it was changed last. */
  async read(project: string): Promise<{ readonly data: T; readonly updated_at: number | null }> {
    return (await this.row(project)) ?? { data: await this.#defaults(project), updated_at: null }
  }

  /** @throws {ServiceError} `version_conflict` */
  async change(project: string, caller: Caller, edit: (data: T) => T): Promise<Row<T>> {
    const { name, owner, first, nameless } = this.#declared
    const [scope, id] = this.place(project)
    const audited = new Audited(caller, name, owner && project)
    const before = await this.#defaults(project)
    const data = edit(before)
    const notices = [audited.line(first ?? 'updated', id, first ? [] : changedFields(before, data))]
    const row =
      (await this.table.insert({ id, project: scope.project, data, notices })) ??
      (await this.table.change(scope, id, {
        edit: (now) => edit(this.#upgraded(now.data)),
        notices: nameless ? () => [audited.line('updated', id)] : audited.changed(),
      }))
    if (row === null) throw new ServiceError('version_conflict')
    return row
  }

  /** Returns where the row of a project is stored. */
  place(project: string): readonly [scope: Scope, id: string] {
    const { owner = project, idPrefix } = this.#declared
    return [projectScope(owner), `${idPrefix}_${project.slice(project.indexOf('_') + 1)}`]
  }

  #upgraded(data: T): T {
    return this.#declared.upgraded?.(data) ?? data
  }
}

/** What the use-cases of a setting do beside storing it. */
export interface SettingRules<T extends JsonObject, Body> {
  /** Returns the changed data, or throws a `ServiceError`. Absent: the fields of the body replace those of the data. */
  readonly edit?: (data: T, body: Body) => T
  /** Returns the fields of the response. Absent: the data, and `updated_at`. */
  readonly view?: (data: T, updatedAt: number | null) => JsonObject
  /** Called after a change. */
  readonly changed?: (project: string, data: T) => void | Promise<void>
}

type Verb = 'put' | 'update'
type BodyFor<N extends string> = BodyOf<Extract<OperationId, `${N}.${Verb}`>>

/** Use-cases that read and change a setting of a project: `<name>.get`, and `<name>.update` or `<name>.put`. */
export function settingUseCases<N extends string, T extends JsonObject>(
  name: N,
  setting: ProjectSetting<T>,
  rules?: SettingRules<T, BodyFor<N>>,
): UseCasesOf<N>
export function settingUseCases<T extends JsonObject>(
  name: string,
  setting: ProjectSetting<T>,
  rules: SettingRules<T, JsonObject> = {},
): Readonly<Record<string, AnyUseCase>> {
  const { edit = (data, body) => ({ ...data, ...body }), view = timed, changed } = rules
  const change = async (call: Call<unknown, unknown, JsonObject>) => {
    const { project } = call.scope
    const row = await setting.change(project, call, (data) => edit(data, call.body))
    await changed?.(project, row.data)
    return view(row.data, row.updated_at)
  }
  return {
    [`${name}.get`]: async ({ scope }: Call<unknown, unknown, unknown>) => {
      const { data, updated_at } = await setting.read(scope.project)
      return view(data, updated_at)
    },
    [`${name}.update`]: change,
    [`${name}.put`]: change,
  }
}

const timed = (data: JsonObject, updatedAt: number | null): JsonObject => ({
  ...data,
  updated_at: updatedAt === null ? null : timestampOf(updatedAt),
})
