import type { StoredRecord } from '#storage/ports.ts'
import type { Resident } from '../resident.ts'
import { storedState } from '../step/actor-state.ts'

/** The list row of an actor as it is now. One that has no row any more expires at once, which hides and removes it. */
export const rowRecord = (resident: Resident): StoredRecord => {
  const { id, definition, owner, state, touchedAt } = resident
  const { project, tenant, user, createdAt } = owner
  const facts = { id, project, tenant, user, createdAt, updatedAt: touchedAt }
  const data = definition.row(storedState(state.snapshot), facts)
  return {
    id,
    project,
    tenant,
    user,
    version: state.seq,
    created_at: createdAt,
    updated_at: touchedAt,
    expires_at: data === null ? 1 : null,
    data: data ?? {},
  }
}
