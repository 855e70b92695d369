import { runQueueDefinition } from '#machines/run-queue/run-queue-definition.ts'
import type { RecordStore } from '#storage/ports.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Host } from '../runtime/host.ts'
import type { Sink } from '../runtime/sinks.ts'
import { Lanes } from './lanes.ts'

/** What a request of a slot needs. */
export interface JoinParts {
  readonly host: Pick<Host, 'create' | 'deliver' | 'rows'>
  readonly records: RecordStore
  readonly clock: Clock
}

/**
 * Takes the messages by which runs request a slot. The queue is woken only when the run's row and the mark of its lane
 * can be read: so a look then finds it, and whatever a crash cuts off is done again.
 */
export const joinQueue = ({ host, records, clock }: JoinParts): Sink => {
  const lanes = new Lanes(records, clock.now)
  const made = new Set<string>()

  /** The queue of a project is never removed, so one look a process is enough. */
  const ensureQueue = async (project: string, id: string): Promise<void> => {
    if (made.has(id)) return
    const owner = { project, tenant: null, user: null, createdAt: clock.now() }
    await host.create({ kind: runQueueDefinition, id, owner, input: { queue_id: id }, cause: 'first' })
    made.add(id)
  }

  return async ({ project, tenant }, { id, event }) => {
    const { queue_id, lane } = event
    if (typeof queue_id !== 'string' || typeof lane !== 'string') return
    await host.rows.settled()
    await lanes.mark(project, tenant)
    await ensureQueue(project, queue_id)
    await host.deliver(queue_id, { event: { type: 'wake', lane }, cause: id })
  }
}
