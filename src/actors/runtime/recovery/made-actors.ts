import type { MachineDefinition } from '#machines/definition.ts'
import { type Clock, within } from '../clock.ts'
import type { Host } from '../host.ts'
import type { Resident } from '../resident.ts'
import { shardOf } from './shard.ts'

/** How long a request for an actor that may be in the making waits for the shard to be gone through, in ms. */
const recoveryMs = 3000

/** What looking for actors needs. */
export interface MadeActorsParts {
  readonly host: Host
  readonly definitions: readonly MachineDefinition[]
  readonly clock: Clock
}

/** Whether an actor could have this id. */
export const isActorId = (definitions: readonly MachineDefinition[], id: string): boolean =>
  definitions.some(({ idPrefix }) => id.startsWith(`${idPrefix}_`))

/** Resolves when an actor is there that a durable commit has requested. @throws {StoreUnavailable} when that takes long */
export const untilMade = async ({ host, clock }: Omit<MadeActorsParts, 'definitions'>, id: string): Promise<void> => {
  const recovery = host.recovery.underWay(shardOf(id))
  if (recovery !== undefined) await within(clock, recoveryMs, recovery)
  await host.coming(id)
}

/**
 * The actor, loaded here. Of one that is not there it is not known whether it is none while former owners' work is being
 * taken up: a message that requests it may be undelivered.
 *
 * @throws {Elsewhere} {StoreUnavailable} when that takes long.
 */
export const loadMade = async (parts: MadeActorsParts, id: string): Promise<Resident | null> => {
  const { host, definitions } = parts
  // looked at before the store is: it may be over when that answers
  const recovery = host.recovery.underWay(shardOf(id))
  const there = await host.loadHere(id)
  if (there !== null || recovery === undefined || !isActorId(definitions, id)) return there
  await untilMade(parts, id)
  return host.loadHere(id)
}
