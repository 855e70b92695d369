import { type CommitStore, type OpenCommit, type OpenQuery, StoreUnavailable } from '#storage/ports.ts'
import { backoffMs, type Clock, pause } from '../clock.ts'
import { NotOwner, Superseded } from '../commit/superseded.ts'
import type { Host } from '../host.ts'
import type { Logger } from '../logger.ts'
import type { Resident } from '../resident.ts'

const pageSize = 250
/** Number of actors loaded concurrently: hides the latency of a slow store, and leaves capacity for requests. */
const atOnce = 32
/**
 * After each batch the event loop is left to requests for as long as the batch took, up to this many ms: a store that
 * blocks leaves them nothing meanwhile.
 */
const maxRestMs = 10
/** Total time for which deliveries are waited for, in ms, so that the rest does not queue up behind them. */
const patienceMs = 5000
const maxAttempts = 8

/** Dependencies of `recover`. */
export interface RecoveryParts {
  readonly host: Host
  readonly store: CommitStore
  readonly clock: Clock
  readonly log: Logger
  /** Restricts recovery to these shards; all when absent. */
  readonly shards?: readonly number[]
  /** When aborted, no further work is started. */
  readonly signal?: AbortSignal
}

/**
 * Resumes work that a crash interrupted: redelivers messages of open commits, starts effects that have no result,
 * writes rows that are missing. All of it is idempotent, whichever process did it before. Recovery runs in the
 * background of requests: an actor that a request needs is loaded at once, which resumes what the actor left open
 * (specs/decisions/0140-recovery-behind-requests.md).
 *
 * @returns the number of actors that had open work.
 * @throws {StoreUnavailable}
 */
export const recover = async (parts: RecoveryParts): Promise<number> => {
  const { clock, host, log, signal } = parts
  const seen = new Set<string>()
  const actors = new Set<string>()
  const until = clock.steady() + patienceMs
  for await (const page of openPages(parts)) {
    // commits of this process are left out: it carries them out itself, however long that takes
    const fresh = page.filter((commit) => isEarlier(host, commit) && !seen.has(keyOf(commit)))
    for (const commit of fresh) {
      seen.add(keyOf(commit))
      actors.add(commit.actor)
    }
    const deliveries = await takenUp(parts, fresh)
    if (signal?.aborted) break
    void host.rows.settled()
    // a message to a parked actor is retried for as long as it is parked, which must not hold up the others
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

/**
 * Yields the open commits page by page; the commits at the position of a page's last one come again with the next page.
 */
async function* openPages({ store, clock, shards, signal }: RecoveryParts): AsyncGenerator<readonly OpenCommit[]> {
  let from: OpenQuery['from']
  for (let limit = pageSize; !signal?.aborted; ) {
    const query = { limit, ...(shards && { shards }), ...(from && { from }) }
    const page = await persistently(clock, () => store.open(query))
    yield page
    const last = page.at(-1)
    if (last === undefined || page.length < limit) return
    // more than a page of commits share one position
    limit = isAt(last, from) ? limit + pageSize : pageSize
    from = last
  }
}

const isAt = (commit: OpenCommit, place: OpenQuery['from']): boolean =>
  commit.shard === place?.shard && commit.at === place.at && commit.seq === place.seq

/** Loads the actors of these commits, and resolves with their deliveries, which are then in progress. */
const takenUp = async (parts: RecoveryParts, commits: readonly OpenCommit[]): Promise<readonly Promise<void>[]> => {
  const deliveries: Promise<void>[] = []
  // all commits of an actor count as one: it is loaded once
  const actors = [...Map.groupBy(commits, ({ actor }) => actor).values()]
  for (let first = 0; first < actors.length && !parts.signal?.aborted; first += atOnce) {
    const begunAt = parts.clock.steady()
    const taken = actors.slice(first, first + atOnce).flatMap((open) => open.map((commit) => takeUp(parts, commit)))
    for (const { delivery } of await Promise.all(taken)) deliveries.push(delivery)
    await rest(parts.clock, parts.clock.steady() - begunAt)
  }
  return deliveries
}

/** Leaves the event loop to requests after work that took `tookMs`. */
const rest = async (clock: Clock, tookMs: number): Promise<void> => {
  if (tookMs >= 1) await pause(clock, Math.min(tookMs, maxRestMs))
}

/** Whether an earlier owner wrote the commit. Commits of shards no longer held here are left to their holders. */
const isEarlier = ({ ownership }: Host, { epoch, shard }: OpenCommit): boolean =>
  epoch < (ownership.heldUnder(shard) ?? 0)

/**
 * A write that was in flight when its process died may reach the store this long after the next one has started, in ms.
 */
const lateMs = [5_000, 30_000]

/** Recovers what arrives late from earlier processes. The returned function cancels it. */
export const recoverLate = (parts: RecoveryParts): (() => void) => {
  const { clock, log } = parts
  const again = (): Promise<unknown> =>
    recover(parts).catch((error: unknown) => log.warn({ err: error }, 'late work not taken up'))
  const cancels = lateMs.map((ms) => clock.after(ms, () => void again()))
  return () => {
    for (const cancel of cancels) cancel()
  }
}

/**
 * Loads an actor, which resumes all that it left open. Resolves with the delivery in progress, without waiting for it.
 */
const takeUp = async (parts: RecoveryParts, commit: OpenCommit): Promise<{ delivery: Promise<void> }> => {
  const { host } = parts
  const resident = await loaded(parts, commit)
  if (resident === null || resident.parked !== undefined) return { delivery: Promise.resolve() }
  // the janitor closes the newest commit, once its effects and its row are done too
  if (commit.seq >= resident.state.seq) return { delivery: resident.carriedOut }
  return {
    delivery: resident.carriedOut.then(() => {
      // if another process has taken the actor over meanwhile, that one carries the commit out and closes it
      if (host.runs(resident) && resident.unfinished === undefined)
        host.settler.close({ actor: commit.actor, seq: commit.seq })
    }),
  }
}

/** Loads one actor; null when that fails, so that the others are still recovered. */
const loaded = async ({ host, clock, log }: RecoveryParts, { actor, seq }: OpenCommit): Promise<Resident | null> => {
  try {
    return await persistently(clock, () => host.loadFrom(actor, seq))
  } catch (error) {
    if (error instanceof StoreUnavailable && !(error instanceof Superseded)) throw error
    if (!(error instanceof NotOwner)) log.error({ actorId: actor, err: error }, 'actor not taken up')
    return null
  }
}

/** Retries while the store is unavailable: occasional failures must not stop the recovery of many actors. */
const persistently = async <T>(clock: Clock, work: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const passing = error instanceof StoreUnavailable && !(error instanceof Superseded)
      if (!passing || attempt >= maxAttempts) throw error
      await pause(clock, backoffMs(attempt, 25, 500))
    }
  }
}
