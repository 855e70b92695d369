import { statusOf } from '#machines/index.ts'
import { runFields } from '#machines/run/run-data.ts'
import { runDefinition } from '#machines/run/run-definition.ts'
import { outputOf } from '#machines/run/run-steps.ts'
import type { ResultOf } from '#specs/index.ts'
import type { StoredLogEvent } from '#storage/index.ts'
import type { EventReader } from '../call/speaker.ts'
import { timestampOf, timestampOrNull } from '../records/row-times.ts'
import { shownFields } from '../records/schema.ts'
import { shownPayload } from '../records/shown-event.ts'
import { contextOf, storedState } from '../runtime/index.ts'
import { type Host, type Resident, stuckOf } from '../runtime/internal.ts'
import { eventId } from '../sessions/event-id.ts'
import { runInputOf } from './schema.ts'

type Run = ResultOf<'runs.get'>
type RunEventView = ResultOf<'runs.events'>['data'][number]

/**
 * Sequence of `run.started`: `run.queued` comes first, and nothing else happens to a run that waits for its first slot.
 */
const startedSequence = 2

/** A run as the API returns it. The run must not be deleted. */
export const runView = async (host: Pick<Host, 'readPage'>, resident: Resident): Promise<Run> => {
  const state = storedState(resident.state.snapshot)
  const run = contextOf(runDefinition, state)
  const status = statusOf(runDefinition, state) ?? 'cancelled'
  const ended = status !== 'queued' && status !== 'running' && status !== 'requires_action'
  const { owner, touchedAt } = resident
  return {
    id: resident.id,
    ...shownFields(runFields, run),
    status,
    input: runInputOf(run.input),
    output: outputOf(run),
    tenant_id: owner.tenant,
    external_user_id: owner.user,
    parent_run_id: run.parent?.run_id ?? null,
    ...stuckOf(resident),
    created_at: timestampOf(owner.createdAt),
    updated_at: timestampOf(touchedAt),
    started_at: run.started ? await timeOf(host, resident, startedSequence) : null,
    finished_at: ended ? await timeOf(host, resident, resident.state.lastSequence) : null,
    expires_at: timestampOf(owner.createdAt + run.expires_in_ms),
  }
}

/** Commit time of an event, which the machine does not know; null when the event does not exist. */
const timeOf = async (host: Pick<Host, 'readPage'>, resident: Resident, sequence: number): Promise<string | null> => {
  const [event] = await host.readPage(resident, sequence - 1, 1)
  return timestampOrNull(event?.at ?? null)
}

/** One event of a run's log, as the API returns it. */
export const runEventView = (run: string, event: StoredLogEvent, reader: EventReader): RunEventView => ({
  id: eventId(run, event.sequence, event.at),
  run_id: run,
  sequence: event.sequence,
  event_type: event.event_type,
  payload: shownPayload(event, reader),
  created_at: timestampOf(event.at),
})
