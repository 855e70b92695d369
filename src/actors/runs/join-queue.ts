import { runQueueDefinition } from '#machines/run-queue/run-queue-definition.ts'
import type { Services } from '../capability/services.ts'
import type { Host, Sink } from '../runtime/internal.ts'
import { Lanes } from './lanes.ts'

/** Dependencies of `joinQueue`. */
export interface JoinParts extends Pick<Services, 'clock' | 'records'> {
  readonly host: Pick<Host, 'create' | 'deliver' | 'rows'>
}

/**
 * Sink for the messages by which runs request a slot. The queue is woken only after the run's row and the mark of its
 * lane are readable, so that the queue finds the run. After a crash the message is processed again.
 */
export const joinQueue = ({ host, records, clock }: JoinParts): Sink => {
  const lanes = new Lanes(records, clock.now)
  const made = new Set<string>()

  /** Creates the project's queue. A queue is never removed, so each process checks only once. */
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
