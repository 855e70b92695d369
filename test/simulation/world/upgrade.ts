import { definitions } from '#actors/capabilities.ts'
import type { MachineDefinition } from '#machines/definition.ts'
import { levelOf } from '#runtime/cluster/able-owners.ts'
import type { Lease, LeaseTable, Member } from '#storage/cluster-ports.ts'

/** The machines of the next release: sessions are one version newer. */
export const nextDefinitions: readonly MachineDefinition[] = definitions.map((definition) =>
  definition.name === 'session'
    ? {
        ...definition,
        version: definition.version + 1,
        migrations: { ...definition.migrations, [definition.version]: (state) => state },
      }
    : definition,
)

/** Time in ms after which a process that began to own shards, or was cut off and is a member again, should have its share. */
const joinedMs = 6000

/** How many shards the fullest process has had, as a multiple of what an equal distribution gives it. */
export class Shares {
  fullest = 0
  readonly #ownsSince = new Map<string, number>()

  /**
   * Notes the lease table of this moment.
   * @param living names of the processes that live: those that were killed stay members for a while, with no shards.
   */
  note({ leases, members }: LeaseTable, living: ReadonlySet<string>, now: number): void {
    const held = leases.filter(({ leftMs }) => leftMs > 0)
    const counts = Map.groupBy(held, ({ holder }) => holder)
    for (const process of counts.keys()) {
      if (process !== null && !this.#ownsSince.has(process)) this.#ownsSince.set(process, now)
    }
    const present = new Set(members.map(({ process }) => process))
    // the others have taken its shards: when it is a member again, it has none
    for (const process of this.#ownsSince.keys()) if (!present.has(process)) this.#ownsSince.set(process, now)
    const owners = members.filter(
      ({ process, node, draining }) => living.has(node) && !draining && this.#hasJoined(process, now),
    )
    for (const owner of owners) {
      const ratio = (counts.get(owner.process)?.length ?? 0) / equalShare(owner, owners, leases)
      this.fullest = Math.max(this.fullest, ratio)
    }
  }

  #hasJoined(process: string, now: number): boolean {
    return now - (this.#ownsSince.get(process) ?? now) >= joinedMs
  }
}

/**
 * The share of a process of all shards, whether held or not: those of a process that was killed are about to be taken. By
 * all that may own shards, and by those that may own the shards of its release.
 */
const equalShare = (owner: Member, owners: readonly Member[], leases: readonly Lease[]): number => {
  const level = levelOf(owner)
  const alike = owners.filter((each) => levelOf(each) >= level).length
  const own = leases.filter((lease) => (lease.level ?? 0) >= level).length
  const isNewer = owners.some((each) => levelOf(each) < level)
  return Math.max(leases.length / owners.length, isNewer ? own / alike : 0)
}
