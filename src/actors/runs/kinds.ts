import type { RecordKind } from '#storage/ports.ts'
import type { AnyKind, TypedKind } from '../records/schema.ts'

/** List rows of runs. `lane` only while a run waits for a slot. */
export const runRows: RecordKind = { name: 'runs', filters: ['lane'] }

/**
 * A tenant's lane in the queue of its project's runs; `waiting` while runs may wait in it. `closing`: the look that found
 * nobody there, and looks once more before it says so.
 */
export type RunLaneData = { readonly waiting: boolean; readonly closing?: string }

/** Lanes with the tenant that they are of; one without a tenant is the project's own. */
export const runLanes: TypedKind<RunLaneData> = { name: 'run_lanes', filters: ['waiting'] }

/** All kinds of this folder, for `RecordStore.prepare`. */
export const runKinds: readonly AnyKind[] = [runRows, runLanes]
