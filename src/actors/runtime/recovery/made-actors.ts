import type { MachineDefinition } from '#machines/definition.ts'
import { definitionOf } from '#machines/definition-of.ts'
import { type Clock, within } from '../clock.ts'
import type { Host } from '../host.ts'
import type { Resident } from '../resident.ts'

/** How long a request for an actor that may be about to be created waits for the recovery of its shard, in ms. */
const recoveryMs = 3000

/** Dependencies of `loadMade`. */
export interface MadeActorsParts {
  readonly host: Host
  readonly definitions: readonly MachineDefinition[]
  readonly clock: Clock
}

/** Whether the id has the prefix of an actor kind. */
export const isActorId = (definitions: readonly MachineDefinition[], id: string): boolean =>
  definitionOf(definitions, id) !== undefined

/**
 * Resolves when an actor that a durable commit requested has been created.
 * @throws {StoreUnavailable} when that takes too long
 */
export const untilMade = async ({ host, clock }: Omit<MadeActorsParts, 'definitions'>, id: string): Promise<void> => {
  const recovery = host.recovery.underWay(host.ownership.space.of(id))
  if (recovery !== undefined) await within(clock, recoveryMs, recovery)
  await host.coming(id)
}

/**
 * Loads the actor here. While the work of former owners is being recovered, a missing actor may still be created,
 * because the message that requests it may be undelivered: then the call waits for the recovery.
 *
 * @throws {Elsewhere} {StoreUnavailable} when that takes too long.
 */
export const loadMade = async (parts: MadeActorsParts, id: string): Promise<Resident | null> => {
  const { host, definitions } = parts
  // looked up before the store is read: recovery may have ended when the store answers
  const recovery = host.recovery.underWay(host.ownership.space.of(id))
  const there = await host.loadHere(id)
  if (there !== null || recovery === undefined || !isActorId(definitions, id)) return there
  await untilMade(parts, id)
  return host.loadHere(id)
}
