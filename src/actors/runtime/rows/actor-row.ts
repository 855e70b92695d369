import { listRow } from '#machines/list-row.ts'
import { leafPath } from '#machines/state-value.ts'
import type { StoredRecord } from '#storage/ports.ts'
import type { Resident } from '../resident.ts'
import { storedState } from '../step/actor-state.ts'

/** Returns the current list row of an actor. If it should have none, the row expires at once: hidden, then removed. */
export const rowRecord = (resident: Resident): StoredRecord => {
  const { id, definition, owner, state, touchedAt } = resident
  const { project, tenant, user, createdAt } = owner
  const stored = storedState(state.snapshot)
  const data = listRow(definition, stored, { id, project, tenant, user, createdAt, updatedAt: touchedAt })
  return {
    id,
    project,
    tenant,
    user,
    version: state.seq,
    created_at: createdAt,
    updated_at: touchedAt,
    expires_at: data === null ? 1 : null,
    data: data === null ? {} : { ...data, actor_state: leafPath(stored.value), actor_activity: activityOf(resident) },
  }
}

/** Activity of an actor: its effects run, it waits for an event, it has ended, or it is parked. */
export const activities = ['working', 'waiting', 'ended', 'parked'] as const

/** One of `activities`. */
type Activity = (typeof activities)[number]

const activityOf = ({ parked, state: { snapshot, inFlight } }: Resident): Activity => {
  if (parked !== undefined) return 'parked'
  if (snapshot.status === 'done') return 'ended'
  for (const _ in inFlight) return 'working'
  return 'waiting'
}
