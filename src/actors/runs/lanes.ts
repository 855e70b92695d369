import { projectScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import { Table } from '../records/table.ts'
import { derivedId, newId } from '../runtime/ids.ts'
import { type RunLaneData, runLanes } from './kinds.ts'

/** Ids that follow from a name say nothing of a time. */
const noTime = 1

/** The queue of a project's runs. */
export const queueIdOf = (project: string): string => derivedId('rqu', noTime, project)

/** The lane of a tenant; without a tenant the project's own. It names no tenant, so that a queue's log names none. */
export const laneIdOf = (project: string, tenant: string | null): string =>
  derivedId('lan', noTime, `${project}/${tenant ?? ''}`)

/** A lane as the queue sees it. */
export interface Lane {
  readonly id: string
  readonly tenant: string | null
}

/**
 * Which lanes have runs that wait. A lane is marked before its queue is woken, and unmarked by the queue when it finds
 * no run in it. Unmarking goes in two steps with another look between them, and a run that comes meanwhile undoes the
 * first: so a look that breaks off at any moment leaves no run behind in a lane that is not looked at.
 */
export class Lanes {
  readonly #table: Table<RunLaneData>

  constructor(records: RecordStore, now: () => number) {
    this.#table = new Table(records, runLanes, now)
  }

  /** Marks a lane. Call it when the run's row says that it waits. @throws {StoreUnavailable} */
  async mark(project: string, tenant: string | null): Promise<void> {
    const id = laneIdOf(project, tenant)
    const scope = projectScope(project)
    const row = await this.#table.get(scope, id)
    if (row !== null && isMarked(row.data)) return
    if (row === null && (await this.#table.insert({ id, project, tenant, data: { waiting: true } })) !== null) return
    await this.#table.change(scope, id, { edit: ({ data }) => (isMarked(data) ? null : { waiting: true }) })
  }

  /**
   * Unmarks a lane in which no run waits. `waits` looks again: a run that saw the mark before the first step has shown by
   * then that it waits, and one that comes after it takes the second step's ground away.
   */
  async unmark(project: string, { id }: Lane, waits: () => Promise<boolean>): Promise<void> {
    const scope = projectScope(project)
    const closing = newId('lok')
    await this.#table.change(scope, id, { edit: ({ data }) => (data.waiting ? { waiting: true, closing } : null) })
    if (await waits()) return
    await this.#table.change(scope, id, { edit: (row) => (row.data.closing === closing ? { waiting: false } : null) })
  }

  /** Marked lanes behind `after`, at most `limit`, in the order in which they are served. */
  async marked(project: string, after: string | null, limit: number): Promise<readonly Lane[]> {
    const rows = await this.#table.list(projectScope(project), {
      where: { waiting: true },
      ascending: true,
      limit,
      ...(after !== null && { after }),
    })
    return rows.map(({ id, tenant }) => ({ id, tenant }))
  }
}

const isMarked = ({ waiting, closing }: RunLaneData): boolean => waiting && closing === undefined
