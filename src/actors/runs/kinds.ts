import type { FieldsOf } from '#machines/row-fields.ts'
import type { RunContext, runFields } from '#machines/run/run-data.ts'
import type { Status } from '#specs/statuses.ts'
import type { AnyKind, TypedKind } from '../records/schema.ts'

/** Data of a run's list row (`runDefinition.row`). */
export type RunRowData = FieldsOf<typeof runFields, RunContext> & {
  readonly status: Status<'run'>
  readonly parent_run_id: string | null
  readonly expires_in_ms?: number
}

/** List rows of runs. `lane` is only set while a run waits for a slot. */
export const runRows: TypedKind<RunRowData> = {
  name: 'runs',
  filters: ['lane', 'status', 'agent_id', { fields: ['parent_run_id'], narrow: true }],
}

/**
 * A tenant's lane in the queue of its project's runs. `waiting` is true while runs may wait in it. `closing` is the id
 * of an unmarking in progress, which found no run and checks once more.
 */
export type RunLaneData = { readonly waiting: boolean; readonly closing?: string }

/** Lanes, each with its tenant; a lane without a tenant is the project's own. */
export const runLanes: TypedKind<RunLaneData> = { name: 'run_lanes', filters: ['waiting'] }

/** All kinds of this folder, for `RecordStore.prepare`. */
export const runKinds: readonly AnyKind[] = [runRows, runLanes]
