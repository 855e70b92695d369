import { projectScope, type RecordStore } from '#storage/index.ts'
import { Table } from '../records/table.ts'
import { derivedId, newId } from '../runtime/index.ts'
import { type RunLaneData, runLanes } from './kinds.ts'

/** Placeholder for the time part of ids that are derived from names. */
const noTime = 1

/** Id of the queue of a project's runs. */
export const queueIdOf = (project: string): string => derivedId('rqu', noTime, project)

/**
 * Id of the lane of a tenant, or of the project's own lane for runs without a tenant. The id is a hash, so that the log
 * of the queue does not reveal tenants.
 */
export const laneIdOf = (project: string, tenant: string | null): string =>
  derivedId('lan', noTime, `${project}/${tenant ?? ''}`)

/** A lane of the queue: its id, and its tenant (null for the project's own lane). */
export interface Lane {
  readonly id: string
  readonly tenant: string | null
}

/**
 * Index of the lanes in which runs wait. A lane is marked before its queue is woken. The queue unmarks it when it finds
 * no run there. Unmarking takes two steps with another check between them, and a run that arrives meanwhile undoes the
 * first step. So an unmarking that is interrupted at any point leaves no waiting run in an unmarked lane.
 */
export class Lanes {
  readonly #table: Table<RunLaneData>

  constructor(records: RecordStore, now: () => number) {
    this.#table = new Table(records, runLanes, now)
  }

  /** Marks a lane. Call it after the run's row is stored as waiting. @throws {StoreUnavailable} */
  async mark(project: string, tenant: string | null): Promise<void> {
    const id = laneIdOf(project, tenant)
    const scope = projectScope(project)
    const row = await this.#table.get(scope, id)
    if (row !== null && isMarked(row.data)) return
    if (row === null && (await this.#table.insert({ id, project, tenant, data: { waiting: true } })) !== null) return
    await this.#table.change(scope, id, { edit: ({ data }) => (isMarked(data) ? null : { waiting: true }) })
  }

  /**
   * Unmarks a lane in which no run waits. `waits` checks again between the two steps. A run that saw the mark before
   * the first step is visible to that check; a run that arrives later removes `closing`, so that the second step does
   * nothing.
   */
  async unmark(project: string, { id }: Lane, waits: () => Promise<boolean>): Promise<void> {
    const scope = projectScope(project)
    const closing = newId('lok')
    await this.#table.change(scope, id, { edit: ({ data }) => (data.waiting ? { waiting: true, closing } : null) })
    if (await waits()) return
    await this.#table.change(scope, id, { edit: (row) => (row.data.closing === closing ? { waiting: false } : null) })
  }

  /** Returns marked lanes after `after`, at most `limit`, in the order in which they are served. */
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
