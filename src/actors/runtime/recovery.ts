import type { Logger } from 'pino'
import { type Commit, type CommitStore, StoreUnavailable } from '../../storage/ports.ts'
import { type Clock, pause } from './clock.ts'
import type { Host } from './host.ts'
import type { Resident } from './resident.ts'

const pageSize = 1000
const patienceMs = 5000

/**
 * Takes up what a crash cut off: delivers messages of open commits again, starts effects that have no result, writes
 * rows that were not written. Everything it does is done once, whoever did it before. Run it before the first request.
 *
 * @returns how many actors had something open.
 * @throws {StoreUnavailable}
 */
export const recover = async (host: Host, store: CommitStore, clock: Clock, log: Logger): Promise<number> => {
  const seen = new Set<string>()
  const actors = new Set<string>()
  for (let limit = pageSize; ; limit = seen.size + pageSize) {
    const open = await store.open(limit)
    // what this process commits meanwhile is its own to carry out, however long that takes
    const fresh = open.filter((commit) => commit.epoch < host.epoch && !seen.has(`${commit.actor}:${commit.seq}`))
    if (fresh.length === 0) break
    const deliveries: Promise<void>[] = []
    for (const commit of fresh) {
      seen.add(`${commit.actor}:${commit.seq}`)
      actors.add(commit.actor)
      deliveries.push((await takeUp(host, commit, log)).delivery)
    }
    // a message to a parked actor is tried for as long as it is parked: that must not hold up the start
    await Promise.race([Promise.all(deliveries), pause(clock, patienceMs)])
    await host.rows.settled()
    await host.settler.flush()
  }
  if (actors.size > 0) log.info({ actors: actors.size, commits: seen.size }, 'open work taken up')
  return actors.size
}

/** Resolves with the delivery under way, not when it is over. Loading has taken up all that the actor left open. */
const takeUp = async (host: Host, commit: Commit, log: Logger): Promise<{ delivery: Promise<void> }> => {
  const resident = await loaded(host, commit.actor, log)
  if (resident === null || resident.parked !== undefined) return { delivery: Promise.resolve() }
  // the janitor closes the newest commit, once its effects and row are done as well
  if (commit.seq >= resident.state.seq) return { delivery: resident.outbox }
  return { delivery: resident.outbox.then(() => host.settler.close({ actor: commit.actor, seq: commit.seq })) }
}

/** One actor that cannot be loaded must not keep all others from starting. */
const loaded = async (host: Host, actor: string, log: Logger): Promise<Resident | null> => {
  try {
    return await host.load(actor)
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error
    log.error({ actorId: actor, err: error }, 'actor not taken up')
    return null
  }
}
