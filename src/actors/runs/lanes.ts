import { projectScope } from '../../../specs/scope.ts'
import type { RecordStore } from '../../storage/ports.ts'
import { derivedId } from '../ids.ts'
import { Table } from '../records/table.ts'
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
 * Which lanes have runs that wait. A lane is marked before its queue is woken and unmarked by the queue when it finds
 * nobody in it; looked at again after that, so that a run which came in between is not overlooked.
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
    if (row?.data.waiting) return
    if (row === null && (await this.#table.insert({ id, project, tenant, data: { waiting: true } })) !== null) return
    await this.#table.change(scope, id, ({ data }) => (data.waiting ? null : { waiting: true }))
  }

  /** Unmarks a lane in which nobody waits. `waits` looks again. */
  async unmark(project: string, lane: Lane, waits: () => Promise<boolean>): Promise<void> {
    const scope = projectScope(project)
    await this.#table.change(scope, lane.id, ({ data }) => (data.waiting ? { waiting: false } : null))
    if (await waits()) await this.mark(project, lane.tenant)
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
