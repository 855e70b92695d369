import type { MachineDefinition } from '../../machines/definition.ts'
import type { JsonObject, LogEvent } from '../../storage/ports.ts'
import type { Owner } from './actor-state.ts'
import type { Standing } from './feed.ts'
import type { Delivery, Resident, Told } from './resident.ts'

/**
 * What a host of a cluster asks of the rest of it. A host that is alone has none, and nothing of this in its path.
 *
 * `deliver`, `create`, `delivered` and `read` go to whoever runs the actor, this host included, and wait a while for an
 * actor that is on its way between two. They throw `StoreUnavailable` when that takes too long, and what the owner throws.
 */
export interface HostLink {
  /** @param following the caller will follow the actor's log. */
  deliver(id: string, delivery: Delivery, following: boolean): Promise<Told>
  create(kind: MachineDefinition, id: string, owner: Owner, input: JsonObject, cause: string): Promise<Told>
  delivered(id: string): Promise<void>
  /** The actor in memory, or as the store has it when another process runs it; null when there is none. */
  read(id: string): Promise<Resident | null>
  /** Events of an actor that another process runs. */
  readLog(id: string, after: number): Promise<readonly LogEvent[]>
  /** @throws {Elsewhere} when this process may not move the actor, or cannot be certain that it may. */
  check(resident: Resident): void
  /** @throws {Elsewhere} when somebody else may have moved the actor on: a refusal by what is in memory may be wrong. */
  checkCertain(resident: Resident): void
  /** A shard in which a new actor runs here; undefined when any will do. */
  localShard(): number | undefined
  /** Resolves when the rows of everything that other processes acknowledged are written, or after a moment. */
  rowsElsewhere(): Promise<void>
  /** An actor here has made a durable commit. */
  committed(resident: Resident, events: readonly LogEvent[]): void
  /** How far an actor is that does not run here. */
  standing(id: string): Standing | 'unknown'
  /** Its first stream began here, or the last one ended. */
  followed(id: string): void
  unfollowed(id: string): void
  /** Somebody else seems to have taken over what this process believes to hold. */
  doubt(): void
}
