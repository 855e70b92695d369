import type { LiveActor, Member } from '#storage/cluster-ports.ts'
import type { Resident } from './resident.ts'

/** An actor in this process's memory, as the directory names it. */
export const liveActorOf = (
  { id, definition, owner }: Pick<Resident, 'id' | 'definition' | 'owner'>,
  { node, process }: Pick<Member, 'node' | 'process'>,
): LiveActor => ({ actor: id, machine: definition.name, project: owner.project, node, process })
