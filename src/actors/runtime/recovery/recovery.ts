import type { Logger } from 'pino'
import { type Commit, type CommitStore, StoreUnavailable } from '#storage/ports.ts'
import { backoffMs, type Clock, pause } from '../clock.ts'
import { Elsewhere, Superseded } from '../commit/superseded.ts'
import type { Host } from '../host.ts'
import type { Resident } from '../resident.ts'

const pageSize = 1000
/** So many actors are loaded side by side: a start takes as long as the store is slow, not as long as the list. */
const atOnce = 64
const patienceMs = 5000
const mostAttempts = 8

/**
 * Takes up what a crash cut off: delivers messages of open commits again, starts effects that have no result, writes
 * rows that were not written. Everything it does is done once, whoever did it before. Run it before the first request.
 *
 * @param shards only actors of these; all when left out.
 * @returns how many actors had something open.
 * @throws {StoreUnavailable}
 */
export const recover = async (
  host: Host,
  store: CommitStore,
  clock: Clock,
  log: Logger,
  shards?: readonly number[],
): Promise<number> => {
  const seen = new Set<string>()
  const actors = new Set<string>()
  for (let limit = pageSize; ; limit = seen.size + pageSize) {
    const open = await persistently(clock, () => store.open(limit, shards))
    // what this process commits meanwhile is its own to carry out, however long that takes
    const fresh = open.filter((commit) => isEarlier(host, commit) && !seen.has(`${commit.actor}:${commit.seq}`))
    if (fresh.length === 0) break
    const deliveries: Promise<void>[] = []
    for (let first = 0; first < fresh.length; first += atOnce) {
      const taken = fresh.slice(first, first + atOnce).map((commit) => {
        seen.add(`${commit.actor}:${commit.seq}`)
        actors.add(commit.actor)
        return takeUp(host, commit, clock, log)
      })
      for (const { delivery } of await Promise.all(taken)) deliveries.push(delivery)
    }
    void host.rows.settled()
    // a message to a parked actor is tried for as long as it is parked: that must not hold up the start
    await Promise.race([Promise.all(deliveries), pause(clock, patienceMs)])
    await host.rows.settled()
    await host.settler.flush()
  }
  if (actors.size > 0) log.info({ actors: actors.size, commits: seen.size }, 'open work taken up')
  return actors.size
}

/** Written by an earlier owner. One of a shard that is not held here any more is another process's to take up. */
const isEarlier = ({ ownership }: Host, { epoch, shard }: Commit): boolean => epoch < (ownership.heldUnder(shard) ?? 0)

/** A write that a process had sent when it died may reach the store so long after the next one has started, in ms. */
const lateMs = [5_000, 30_000]

/** Takes up what comes in late from earlier processes. The function returned stops it. */
export const recoverLate = (
  host: Host,
  store: CommitStore,
  clock: Clock,
  log: Logger,
  shards?: readonly number[],
): (() => void) => {
  const again = (): Promise<unknown> =>
    recover(host, store, clock, log, shards).catch((error: unknown) =>
      log.warn({ err: error }, 'late work not taken up'),
    )
  const cancels = lateMs.map((ms) => clock.after(ms, () => void again()))
  return () => {
    for (const cancel of cancels) cancel()
  }
}

/** Resolves with the delivery under way, not when it is over. Loading has taken up all that the actor left open. */
const takeUp = async (host: Host, commit: Commit, clock: Clock, log: Logger): Promise<{ delivery: Promise<void> }> => {
  const resident = await loaded(host, commit, clock, log)
  if (resident === null || resident.parked !== undefined) return { delivery: Promise.resolve() }
  // the janitor closes the newest commit, once its effects and row are done as well
  if (commit.seq >= resident.state.seq) return { delivery: resident.carriedOut }
  return {
    delivery: resident.carriedOut.then(() => {
      // whoever has taken it over meanwhile carries it out, and closes it
      if (host.runs(resident)) host.settler.close({ actor: commit.actor, seq: commit.seq })
    }),
  }
}

/** One actor that cannot be loaded must not keep all others from starting. */
const loaded = async (host: Host, { actor, seq }: Commit, clock: Clock, log: Logger): Promise<Resident | null> => {
  try {
    return await persistently(clock, () => host.loadFrom(actor, seq))
  } catch (error) {
    if (error instanceof StoreUnavailable && !(error instanceof Superseded)) throw error
    if (!(error instanceof Elsewhere)) log.error({ actorId: actor, err: error }, 'actor not taken up')
    return null
  }
}

/** A store that fails one operation in many must not keep a server with many open actors from ever starting. */
const persistently = async <T>(clock: Clock, work: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const passing = error instanceof StoreUnavailable && !(error instanceof Superseded)
      if (!passing || attempt >= mostAttempts) throw error
      await pause(clock, backoffMs(attempt, 25, 500))
    }
  }
}
