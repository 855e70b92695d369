import { statusOf } from '#machines/index.ts'
import { sessionFields } from '#machines/session/session-data.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import type { ResultOf } from '#specs/index.ts'
import type { StoredLogEvent, StoredRecord } from '#storage/index.ts'
import type { EventReader } from '../call/speaker.ts'
import { namesOf, rowOf, shownFields } from '../records/schema.ts'
import { shownPayload } from '../records/shown-event.ts'
import { contextOf, storedState } from '../runtime/index.ts'
import { type Resident, stuckOf } from '../runtime/internal.ts'
import { eventId } from './event-id.ts'
import { sessionRows } from './kinds.ts'

type Session = ResultOf<'sessions.get'>
type SessionEventView = ResultOf<'sessions.events'>['data'][number]

const rowNames = namesOf(sessionFields)

const time = (ms: number): string => new Date(ms).toISOString()

/** A session as the API returns it. The session must not be deleted. */
export const sessionView = (resident: Resident): Session => {
  const state = storedState(resident.state.snapshot)
  const context = contextOf(sessionDefinition, state)
  const { createdAt, tenant, user } = resident.owner
  return {
    id: resident.id,
    status: statusOf(sessionDefinition, state) ?? 'completed',
    created_at: time(createdAt),
    updated_at: time(resident.touchedAt),
    tenant_id: tenant,
    external_user_id: user,
    ...shownFields(sessionFields, context),
    total_cost: Number(context.total_cost),
    ...stuckOf(resident),
  }
}

/** A session as its creation returns it: without `total_cost`, since nothing has been charged yet. */
export const newSessionView = (resident: Resident): Omit<Session, 'total_cost'> => {
  const { total_cost: _, ...session } = sessionView(resident)
  return session
}

/** A session as the API returns it, from its list row. */
export const sessionRowView = (record: StoredRecord): Session => {
  const row = rowOf(sessionRows, record).data
  return {
    id: record.id,
    status: row.status,
    created_at: time(record.created_at),
    updated_at: time(record.updated_at),
    tenant_id: record.tenant,
    external_user_id: record.user,
    ...shownFields(rowNames, row),
    total_cost: Number(row.total_cost),
  }
}

/** One event of a session's log, as the API returns it. */
export const sessionEventView = (session: string, event: StoredLogEvent, reader: EventReader): SessionEventView => ({
  id: eventId(session, event.sequence, event.at),
  session_id: session,
  turn_number: event.turn_number ?? null,
  sequence: event.sequence,
  event_type: event.event_type,
  payload: shownPayload(event, reader),
  created_at: time(event.at),
})
