import type { Logger } from 'pino'
import type { Commit, CommitStore } from '../../storage/ports.ts'
import { type Clock, pause } from './clock.ts'
import type { Host } from './host.ts'

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
    const fresh = open.filter((commit) => !seen.has(`${commit.actor}:${commit.seq}`))
    if (fresh.length === 0) break
    const deliveries: Promise<void>[] = []
    for (const commit of fresh) {
      seen.add(`${commit.actor}:${commit.seq}`)
      actors.add(commit.actor)
      deliveries.push((await takeUp(host, commit)).delivery)
    }
    // a message to a parked actor is tried for as long as it is parked: that must not hold up the start
    await Promise.race([Promise.all(deliveries), pause(clock, patienceMs)])
    await host.rows.settled()
    await host.settler.flush()
  }
  if (actors.size > 0) log.info({ actors: actors.size, commits: seen.size }, 'open work taken up')
  return actors.size
}

/** Resolves with the delivery under way, not when it is over. */
const takeUp = async (host: Host, commit: Commit): Promise<{ delivery: Promise<void> }> => {
  const resident = await host.load(commit.actor)
  if (resident === null || resident.parked !== undefined) return { delivery: Promise.resolve() }
  // loading has taken up the newest commit; of an older one only messages can be left
  if (commit.seq >= resident.state.seq) return { delivery: resident.outbox }
  const closed = () => host.settler.close({ actor: commit.actor, seq: commit.seq })
  return { delivery: host.redeliver(resident, commit).then(closed) }
}
