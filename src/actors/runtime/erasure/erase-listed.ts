import type { Json, JsonObject, RecordKind, Storage } from '#storage/ports.ts'
import type { Scope } from '#storage/scope.ts'
import { actorBlobs } from '../blobs/blob-owner.ts'
import { type Clock, pause } from '../clock.ts'
import type { Host } from '../host.ts'
import { refusalIn } from '../refused.ts'
import { readOwner } from '../step/actor-state.ts'
import { markErased } from './erased-actors.ts'

/** Dependencies on the host for removing actors. */
export interface EraserHost extends Pick<Host, 'deliver' | 'drop'> {
  readonly rows: Pick<Host['rows'], 'shown'>
}

/** Dependencies for removing actors. */
export interface EraserParts {
  readonly storage: Pick<Storage, 'commits' | 'records' | 'blobs'>
  readonly host: EraserHost
  readonly clock: Clock
}

/** An actor to remove, and its owner. */
export interface ActorToErase {
  readonly actor: string
  readonly project: string
  readonly tenant: string | null
  /** Further fields of the `delete` event, for actors that record who deleted them. */
  readonly event?: JsonObject
}

const pageSize = 100
/**
 * Pause before the list is read again, in ms: the row of an actor on another node is removed a moment after the actor.
 */
const pollMs = 100

/**
 * Sends `delete` to an actor; every kind of actor accepts it in every state. Sending it again changes nothing. A parked
 * actor accepts no events, so its log is removed directly.
 *
 * @returns false when there is no such actor (any more).
 * @throws {StoreUnavailable}
 */
export const requestErasure = async (parts: EraserParts, condemned: ActorToErase): Promise<boolean> => {
  const { actor, event } = condemned
  try {
    await parts.host.deliver(actor, { event: { ...event, type: 'delete' }, cause: `erase:${actor}` })
    return true
  } catch (error) {
    const code = refusalIn(error)?.code
    if (code === 'not_found') return false
    if (code !== 'actor_parked') throw error
    await removeLog(parts, condemned)
    return true
  }
}

/**
 * Removes the log of an actor without sending it an event: for an actor that is parked, or has no final state of its
 * own.
 * @throws {StoreUnavailable}
 */
export const removeLog = async ({ storage, host, clock }: EraserParts, { actor, project, tenant }: ActorToErase) => {
  const head = await storage.commits.head(actor)
  if (head !== null) await markErased(storage.records, { actor, made: readOwner(head).createdAt, now: clock.now() })
  await storage.commits.forget(actor)
  await storage.blobs.remove(project, actorBlobs({ actor, tenant }))
  host.drop(actor)
}

/** A list of actors: the kind of its rows, its scope and its filter. */
export interface Listed {
  readonly rows: RecordKind
  readonly scope: Scope
  readonly where?: { readonly [field: string]: Json } | undefined
}

/** Removes every actor of a list, and resolves when the list is empty. @throws {StoreUnavailable} */
export const eraseListed = async (parts: EraserParts, { rows, scope, where = {} }: Listed): Promise<void> => {
  for (let rounds = 0; (await sendDeleteToListed(parts, { rows, scope, where })) > 0; rounds++) {
    if (rounds > 0) await pause(parts.clock, pollMs)
  }
}

/**
 * Sends `delete` to every actor that is in the list now, and returns how many. A row without an actor is removed.
 * @throws {StoreUnavailable}
 */
export const sendDeleteToListed = async (parts: EraserParts, { rows, scope, where = {} }: Listed): Promise<number> => {
  const { storage, host } = parts
  await host.rows.shown()
  let sent = 0
  for (let after: string | undefined; ; ) {
    const query = { where, limit: pageSize, ...(after !== undefined && { after }) }
    const page = await storage.records.list(rows, scope, query)
    await Promise.all(
      page.map(async ({ id, project, tenant }) => {
        if (!(await requestErasure(parts, { actor: id, project, tenant })))
          await storage.records.remove(rows, scope, id)
      }),
    )
    sent += page.length
    after = page.at(-1)?.id
    if (after === undefined) return sent
  }
}
