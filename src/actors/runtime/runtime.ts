import type { Member } from '#storage/cluster-ports.ts'
import { pause } from './clock.ts'
import type { ClusterParts } from './cluster/cluster-node.ts'
import { startCluster } from './cluster/start-cluster.ts'
import { EpochWatch } from './commit/epoch-watch.ts'
import type { Host, HostOptions } from './host.ts'
import { LocalHost } from './local-host.ts'
import { Janitor, type Residency } from './log/janitor.ts'
import { shardsOf } from './recovery/shard.ts'
import { SoleOwner } from './recovery/sole-owner.ts'
import { StalledWork } from './recovery/stalled-work.ts'
import { ReminderClock } from './reminder-clock.ts'
import { aboveAllLeases, lastCrashed, newestStart, nextStart, noteEnd } from './stuck/start-number.ts'
import { noteReminder } from './stuck/stuck-notes.ts'

export { epochs } from './stuck/start-number.ts'
export { stuckRows } from './stuck/stuck.ts'

/** A running host with its background tasks. */
export interface Runtime {
  readonly host: Host
  /**
   * Resolves when a later process has started on the same store: this one no longer writes, and should exit. Never
   * resolves in a cluster.
   */
  readonly replaced: Promise<void>
  /** This process as a member of its cluster; null when it runs alone. */
  readonly self: () => Member | null
  /** The unique name of this process, and a best-effort check whether another process has ended. */
  readonly processes: Processes
  /**
   * Shuts down gracefully: running effects get `graceMs` to end. Remaining work is resumed at the next start, or in a
   * cluster by the other processes at once.
   */
  readonly drain: (graceMs: number) => Promise<void>
}

/** Options of `startRuntime`. */
export interface RuntimeOptions extends Omit<HostOptions, 'ownership'> {
  /** Joins the process to a cluster; without it this process runs every actor. */
  readonly cluster?: ClusterParts
}

/** How long a shutdown waits for rows, in ms; if the store stays unavailable, the next start writes them. */
const flushMs = 2000

const residency: Residency = { max: 20_000, idleMs: 60_000 }

/** Identity of this process, and what it knows of others. */
export interface Processes {
  readonly self: string
  readonly isGone: (process: string) => boolean
  /** How many run now, with this one. */
  readonly count: () => number
  /** Whether all of them run this version of a machine, or a newer one. */
  readonly haveAll: (machine: string, version: number) => boolean
}

/** A started host and the lifecycle of its ownership: alone, or as a cluster member. */
interface Owned {
  readonly host: Host
  readonly replaced: Promise<void>
  readonly self: () => Member | null
  readonly processes: Processes
  /** Ends running work within `graceMs`. */
  readonly end: (graceMs: number) => Promise<void>
  /** Gives up ownership; called once everything is written. */
  readonly leave: () => Promise<void>
}

/**
 * Starts the actors of a store: takes the next epoch, then starts recovery of interrupted work, reminders and
 * maintenance. Resolves when requests may be served: an actor that a request needs is recovered first (`recovery`).
 *
 * @throws {ClusterRuns} when `cluster` is absent and a cluster runs on the store; {StoreUnavailable}
 */
export const startRuntime = async ({ cluster, ...options }: RuntimeOptions): Promise<Runtime> => {
  const { clock, log } = options
  const owned = cluster === undefined ? await startAlone(options) : await startCluster(options, cluster)
  const { host, replaced, self, processes } = owned
  const janitor = new Janitor(host, clock, residency)
  const reminders = new ReminderClock({
    host,
    store: options.storage.commits,
    clock,
    log,
    failing: (resident, failing) => noteReminder(host.stuck, resident, failing),
    recovered: (actor) => host.stuck.clear({ kind: 'failing_reminder', actor }),
    telemetry: options.telemetry,
  })
  host.onReminders = (actor) => reminders.release(actor)
  const standing = new StalledWork({ host, store: options.storage.commits, clock, log })
  janitor.start()
  reminders.start()
  standing.start()
  return {
    host,
    replaced,
    self,
    processes,
    drain: async (graceMs) => {
      standing.stop()
      await owned.end(graceMs)
      reminders.stop()
      janitor.stop()
      host.effects.kill()
      janitor.round()
      await Promise.race([host.rows.settled(), pause(clock, flushMs)])
      await host.settler.flush()
      await owned.leave()
      host.feed.loseAll()
    },
  }
}

const startAlone = async (options: Omit<HostOptions, 'ownership'>): Promise<Owned> => {
  const { clock, log, storage: plain } = options
  const afterCrash = await lastCrashed(plain)
  const epoch = await nextStart(plain, clock, await aboveAllLeases(plain, clock))
  const watch = new EpochWatch({ epoch, newest: () => newestStart(plain), clock, log })
  const storage = { ...plain, commits: watch.guarded(plain.commits) }
  const host = new LocalHost({
    ...options,
    storage,
    ownership: new SoleOwner(epoch, clock, { space: shardsOf(plain), afterCrash }),
  })
  void watch.replaced.then(() => {
    host.recovery.stop()
    host.effects.kill()
    host.feed.loseAll()
  })
  watch.start()
  host.recovery.begin()
  return {
    host,
    replaced: watch.replaced,
    self: () => null,
    // a process that runs alone has replaced all earlier ones, and any other process replaces it
    processes: {
      self: `alone.${epoch}`,
      isGone: (process) => process !== `alone.${epoch}`,
      count: () => 1,
      haveAll: () => true,
    },
    end: async (graceMs) => {
      host.recovery.stop()
      watch.stop()
      await host.effects.drain(graceMs)
    },
    leave: async () => {
      const noted = noteEnd(plain, epoch, clock.now()).catch((error: unknown) =>
        log.warn({ err: error }, 'the end of the process not noted'),
      )
      await Promise.race([noted, pause(clock, flushMs)])
    },
  }
}
