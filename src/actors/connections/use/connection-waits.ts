import { isNotFound } from '#actors/call/not-found.ts'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import { isGone } from '#machines/index.ts'
import type { Host, Sink } from '#runtime/internal.ts'

const gone = { code: 'connection_not_found', message: 'The connection no longer exists.' }

/**
 * Sink for actions that wait for a connection (`{ type: 'wait', connection_id, actor }`). It forwards the message to
 * the connection. If there is no such connection, it notifies the action at once that the wait has ended.
 */
export const connectionWaits =
  (host: Pick<Host, 'load' | 'deliver'>): Sink =>
  async ({ project }, { id: cause, event }) => {
    const actor = String(event.actor)
    const connection = await host.load(String(event.connection_id))
    const isThere =
      connection?.owner.project === project &&
      connection.definition.name === connectionDefinition.name &&
      !isGone(connectionDefinition, connection.state.snapshot)
    if (isThere && (await taken(host, connection.id, { event: { type: 'wait', actor }, cause }))) return
    await host.deliver(actor, { event: { type: 'connection_ended', error: gone }, cause: `${cause}:gone` })
  }

/** Delivers a message; false when the connection has been removed. */
const taken = async (
  host: Pick<Host, 'deliver'>,
  id: string,
  delivery: Parameters<Host['deliver']>[1],
): Promise<boolean> => {
  try {
    await host.deliver(id, delivery)
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}
