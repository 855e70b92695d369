import { projectScope } from '../../../specs/scope.ts'
import type { RecordKind, Storage } from '../../storage/ports.ts'
import { pause } from './clock.ts'
import { EpochWatch } from './epoch-watch.ts'
import { Host, type HostOptions } from './host.ts'
import { Janitor, type Residency } from './janitor.ts'
import { recover, recoverLate } from './recovery.ts'
import { ReminderClock } from './reminder-clock.ts'
import { SoleOwner } from './sole-owner.ts'

/** The newest epoch of this store: one row, raised at every start. */
export const epochs: RecordKind = { name: 'epochs' }

const epochScope = projectScope('system')
const epochId = 'epoch'

/** A running host and what looks after it. */
export interface Runtime {
  readonly host: Host
  /** Resolves when a later process has started on the same store: this one writes nothing any more, and should end. */
  readonly replaced: Promise<void>
  /** Ends well: running effects get `graceMs` to end, the rest is taken up at the next start. */
  readonly drain: (graceMs: number) => Promise<void>
}

/** How long a shutdown waits for rows; without the store they would never be written, and recovery writes them. */
const flushMs = 2000

const residency: Residency = { most: 20_000, idleMs: 60_000 }

/**
 * Starts the actors of a store: takes the next epoch, takes up what a crash cut off, then begins with reminders and
 * upkeep. Resolves when requests may come.
 *
 * @throws {StoreUnavailable}
 */
export const startRuntime = async (options: Omit<HostOptions, 'ownership' | 'link'>): Promise<Runtime> => {
  const { clock, log } = options
  const epoch = await nextEpoch(options)
  const watch = new EpochWatch({ epoch, newest: () => newestEpoch(options.storage), clock, log })
  const storage = { ...options.storage, commits: watch.guarded(options.storage.commits) }
  const host = new Host({ ...options, storage, ownership: new SoleOwner(epoch, clock) })
  void watch.replaced.then(() => {
    host.effects.kill()
    host.feed.end()
  })
  watch.start()
  await recover(host, storage.commits, clock, log)
  const stopRecovery = recoverLate(host, storage.commits, clock, log)
  const janitor = new Janitor(host, clock, residency)
  const reminders = new ReminderClock(host, storage.commits, clock, log)
  janitor.start()
  reminders.start()
  return {
    host,
    replaced: watch.replaced,
    drain: async (graceMs) => {
      stopRecovery()
      watch.stop()
      reminders.stop()
      janitor.stop()
      await host.effects.drain(graceMs)
      host.effects.kill()
      janitor.round()
      await Promise.race([host.rows.settled(), pause(clock, flushMs)])
      await host.settler.flush()
      host.feed.end()
    },
  }
}

const newestEpoch = async ({ records }: Storage): Promise<number> =>
  (await records.get(epochs, epochScope, epochId))?.version ?? 0

const nextEpoch = async ({ storage, clock }: Pick<HostOptions, 'storage' | 'clock'>): Promise<number> => {
  for (;;) {
    const now = clock.now()
    const stored = await storage.records.get(epochs, epochScope, epochId)
    const version = (stored?.version ?? 0) + 1
    const record = {
      id: epochId,
      project: epochScope.project,
      tenant: null,
      user: null,
      version,
      created_at: stored?.created_at ?? now,
      updated_at: now,
      expires_at: null,
      data: {},
    }
    const { records } = storage
    const outcome = stored === null ? await records.insert(epochs, record) : await records.replace(epochs, record)
    if (outcome === 'done') return version
  }
}
