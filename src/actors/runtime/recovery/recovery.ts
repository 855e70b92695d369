import type { Logger } from 'pino'
import { type CommitStore, type OpenCommit, type OpenLook, StoreUnavailable } from '#storage/ports.ts'
import { backoffMs, type Clock, pause } from '../clock.ts'
import { Elsewhere, Superseded } from '../commit/superseded.ts'
import type { Host } from '../host.ts'
import type { Resident } from '../resident.ts'

const pageSize = 250
/** So many actors are loaded side by side: it takes as long as the store is slow, and leaves room for requests. */
const atOnce = 32
/** Requests have the loop for as long as a batch took, up to so many ms: a store that blocks leaves them nothing meanwhile. */
const mostRestMs = 10
/** Deliveries are waited for so long in all, in ms, that the rest does not pile up behind them. */
const patienceMs = 5000
const mostAttempts = 8

/** What taking up open work needs. */
export interface RecoveryParts {
  readonly host: Host
  readonly store: CommitStore
  readonly clock: Clock
  readonly log: Logger
  /** Only actors of these; all when left out. */
  readonly shards?: readonly number[]
  /** Aborted: nothing more is begun. */
  readonly signal?: AbortSignal
}

/**
 * Takes up what a crash cut off: delivers messages of open commits again, starts effects that have no result, writes
 * rows that were not written. Everything it does is done once, whichever process did it before. It runs behind requests: an actor
 * that one of them needs is loaded at once, and that takes up what the actor left open
 * (specs/decisions/0140-recovery-behind-requests.md).
 *
 * @returns how many actors had something open.
 * @throws {StoreUnavailable}
 */
export const recover = async (parts: RecoveryParts): Promise<number> => {
  const { clock, host, log, signal } = parts
  const seen = new Set<string>()
  const actors = new Set<string>()
  const until = clock.steady() + patienceMs
  for await (const page of openPages(parts)) {
    // what this process commits meanwhile is its own to carry out, however long that takes
    const fresh = page.filter((commit) => isEarlier(host, commit) && !seen.has(keyOf(commit)))
    for (const commit of fresh) {
      seen.add(keyOf(commit))
      actors.add(commit.actor)
    }
    const deliveries = await takenUp(parts, fresh)
    if (signal?.aborted) break
    void host.rows.settled()
    // a message to a parked actor is tried for as long as it is parked: that must not hold up the others
    await Promise.race([Promise.all(deliveries), pause(clock, Math.max(0, until - clock.steady()))])
    const begunAt = clock.steady()
    await host.rows.settled()
    await host.settler.flush()
    await rest(clock, clock.steady() - begunAt)
  }
  if (actors.size > 0) log.info({ actors: actors.size, commits: seen.size }, 'open work taken up')
  return actors.size
}

const keyOf = ({ actor, seq }: OpenCommit): string => `${actor}:${seq}`

/** The open commits, a page at a time; those at the place of a page's last one come again with the next. */
async function* openPages({ store, clock, shards, signal }: RecoveryParts): AsyncGenerator<readonly OpenCommit[]> {
  let from: OpenLook['from']
  for (let limit = pageSize; !signal?.aborted; ) {
    const look = { limit, ...(shards && { shards }), ...(from && { from }) }
    const page = await persistently(clock, () => store.open(look))
    yield page
    const last = page.at(-1)
    if (last === undefined || page.length < limit) return
    // more than a whole page of one place
    limit = isAt(last, from) ? limit + pageSize : pageSize
    from = last
  }
}

const isAt = (commit: OpenCommit, place: OpenLook['from']): boolean =>
  commit.shard === place?.shard && commit.at === place.at && commit.seq === place.seq

/** Loads the actors of these commits. Resolves with what they deliver, which is under way then. */
const takenUp = async (parts: RecoveryParts, commits: readonly OpenCommit[]): Promise<readonly Promise<void>[]> => {
  const deliveries: Promise<void>[] = []
  for (let first = 0; first < commits.length && !parts.signal?.aborted; first += atOnce) {
    const begunAt = parts.clock.steady()
    const taken = commits.slice(first, first + atOnce).map((commit) => takeUp(parts, commit))
    for (const { delivery } of await Promise.all(taken)) deliveries.push(delivery)
    await rest(parts.clock, parts.clock.steady() - begunAt)
  }
  return deliveries
}

/** Leaves the loop to requests after work of `tookMs`. */
const rest = async (clock: Clock, tookMs: number): Promise<void> => {
  if (tookMs >= 1) await pause(clock, Math.min(tookMs, mostRestMs))
}

/** Written by an earlier owner. One of a shard that is not held here any more is another process's to take up. */
const isEarlier = ({ ownership }: Host, { epoch, shard }: OpenCommit): boolean =>
  epoch < (ownership.heldUnder(shard) ?? 0)

/** A write that a process had sent when it died may reach the store so long after the next one has started, in ms. */
const lateMs = [5_000, 30_000]

/** Takes up what comes in late from earlier processes. The function returned stops it. */
export const recoverLate = (parts: RecoveryParts): (() => void) => {
  const { clock, log } = parts
  const again = (): Promise<unknown> =>
    recover(parts).catch((error: unknown) => log.warn({ err: error }, 'late work not taken up'))
  const cancels = lateMs.map((ms) => clock.after(ms, () => void again()))
  return () => {
    for (const cancel of cancels) cancel()
  }
}

/** Resolves with the delivery under way, not when it is over. Loading has taken up all that the actor left open. */
const takeUp = async (parts: RecoveryParts, commit: OpenCommit): Promise<{ delivery: Promise<void> }> => {
  const { host } = parts
  const resident = await loaded(parts, commit)
  if (resident === null || resident.parked !== undefined) return { delivery: Promise.resolve() }
  // the janitor closes the newest commit, once its effects and row are done as well
  if (commit.seq >= resident.state.seq) return { delivery: resident.carriedOut }
  return {
    delivery: resident.carriedOut.then(() => {
      // the process that has taken it over meanwhile carries it out, and closes it
      if (host.runs(resident) && resident.unfinished === undefined)
        host.settler.close({ actor: commit.actor, seq: commit.seq })
    }),
  }
}

/** One actor that cannot be loaded must not keep all others from being taken up. */
const loaded = async ({ host, clock, log }: RecoveryParts, { actor, seq }: OpenCommit): Promise<Resident | null> => {
  try {
    return await persistently(clock, () => host.loadFrom(actor, seq))
  } catch (error) {
    if (error instanceof StoreUnavailable && !(error instanceof Superseded)) throw error
    if (!(error instanceof Elsewhere)) log.error({ actorId: actor, err: error }, 'actor not taken up')
    return null
  }
}

/** A store that fails one operation in many must not keep many actors from ever being taken up. */
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
