import type { Member } from '#storage/cluster-ports.ts'

/**
 * The age of a release: the sum of the versions of its machines, which only rise. A lease keeps the highest level of
 * the processes that have held it, since any of them may have migrated actors of the shard.
 */
export const levelOf = ({ machines = {} }: Pick<Member, 'machines'>): number =>
  Object.values(machines).reduce((sum, version) => sum + version, 0)

/** Whether a process is of a release that hands shards over by another rule than this one. */
export const isOfEarlierRule = ({ readableBy }: Member): boolean => readableBy === undefined

/** Returns the processes that may own a shard of a level. */
export type AbleOwners = (level: number) => readonly string[]

/**
 * Which processes may own which shards while processes of several releases run (specs/decisions/0064-cluster.md).
 *
 * A shard moves only to releases at least as new as each that has held it. A newer release begins to take shards of an
 * older one when every older process can read what it writes, and two of its processes are there, or as many as of the
 * older one: until then it can be withdrawn without a trace. If no process of a shard's level is left, the newest ones
 * that are left may own it.
 *
 * @param members every live process.
 */
export const ableOwners = (members: readonly Member[]): AbleOwners => {
  const staying = members.filter(({ draining }) => !draining).map((member) => ({ member, level: levelOf(member) }))
  const newest = staying.reduce((max, { level }) => Math.max(max, level), 0)
  const known = new Map<number, readonly string[]>()
  const ableOf = (level: number): readonly string[] => {
    const able = staying.filter((each) => each.level >= Math.min(level, newest))
    const lowest = Math.min(...able.map((each) => each.level))
    const older = able.filter((each) => each.level === lowest)
    const newer = able.filter((each) => each.level > lowest)
    const mayTake =
      newer.length >= Math.min(2, older.length) &&
      newer.every((one) => staying.every((each) => each.level >= one.level || canRead(each.member, one.member)))
    return (mayTake ? able : older).map(({ member }) => member.process)
  }
  return (level) => {
    const owners = known.get(level) ?? ableOf(level)
    known.set(level, owners)
    return owners
  }
}

/** Whether an older process can answer requests for actors that the newer one has migrated. */
const canRead = (older: Member, newer: Member): boolean =>
  !isOfEarlierRule(older) &&
  Object.entries(newer.machines ?? {}).every(([name, version]) => {
    const known = older.machines?.[name]
    return known === undefined || known >= (newer.readableBy?.[name] ?? version)
  })
