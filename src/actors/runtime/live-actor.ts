import type { LiveActor, Member } from '#storage/cluster-ports.ts'
import type { Resident } from './resident.ts'

/** The directory entry of an actor in this process's memory. */
export const liveActorOf = (
  { id, definition, owner }: Pick<Resident, 'id' | 'definition' | 'owner'>,
  { node, process }: Pick<Member, 'node' | 'process'>,
): LiveActor => ({ actor: id, machine: definition.name, project: owner.project, node, process })
