import type { BlobStore, CommitKey, CommitStore, SettleWork } from '#storage/ports.ts'
import type { UnusedBlob } from '../blobs/snapshot-blobs.ts'
import type { Clock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import type { Resident } from '../resident.ts'

/** Delay in ms: the later, the more of the commits are in pages that are written once. */
const everyMs = 1000
/** Number of keys of each kind that are sent at once: a statement of MongoDB has 16 MB. */
const maxConcurrent = 2000
/** Delay of the retry after a failure, in ms, and the maximum number of keys of each kind that wait for it. */
const againMs = 1000
const maxKept = 100_000

/** Dependencies of `Settler`. */
export interface SettlerParts {
  readonly storage: { readonly commits: Pick<CommitStore, 'settle'>; readonly blobs: Pick<BlobStore, 'remove'> }
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Removes `open`, `due` and old snapshots with their blobs from commits that are done, later and in batches. If this work is lost, only
 * the recovery sweep at the next start takes longer.
 */
export class Settler {
  readonly #parts: SettlerParts
  #close: CommitKey[] = []
  #undue: CommitKey[] = []
  #retire: CommitKey[] = []
  /** Blobs of snapshots in `#retire`, and those whose snapshots are removed. */
  #blobs: UnusedBlob[] = []
  #cancel: (() => void) | undefined
  /** Whether the newest attempt failed. */
  #isAway = false

  constructor(parts: SettlerParts) {
    this.#parts = parts
  }

  /**
   * Queues an actor's commits that are two steps old, once its messages are delivered: only their events are needed.
   */
  retire(resident: Pick<Resident, 'id' | 'retiring' | 'undelivered' | 'unfinished' | 'blobs'>): void {
    const { id: actor, retiring, undelivered, unfinished, blobs } = resident
    if (undelivered > 0 || retiring.length === 0 || unfinished !== undefined) return
    let newest = 0
    for (const seq of retiring) {
      this.#retire.push({ actor, seq })
      newest = Math.max(newest, seq)
    }
    for (const blob of blobs.takeUnused(newest)) this.#blobs.push(blob)
    retiring.length = 0
    this.#plan()
  }

  /** Queues a commit to be closed: everything that it implies is done. */
  close(key: CommitKey): void {
    this.#close.push(key)
    this.#plan()
  }

  /** Queues a commit whose reminders a newer commit holds now. */
  undue(key: CommitKey): void {
    this.#undue.push(key)
    this.#plan()
  }

  /** Keeps work that failed for the next attempt, up to a bound; the rest is left to the next start. */
  #keep({ close, undue, retire }: SettleWork): void {
    // not spread as arguments of `push`: so many would overflow the stack
    this.#close = close.concat(this.#close).slice(0, maxKept)
    this.#undue = undue.concat(this.#undue).slice(0, maxKept)
    this.#retire = retire.concat(this.#retire).slice(0, maxKept)
    this.#cancel ??= this.#parts.clock.after(againMs, () => void this.flush())
  }

  /** Writes all queued work; what fails is retried. */
  async flush(): Promise<void> {
    this.#cancel?.()
    this.#cancel = undefined
    const [close, undue, retire, blobs] = [this.#close, this.#undue, this.#retire, this.#blobs]
    this.#close = []
    this.#undue = []
    this.#retire = []
    this.#blobs = []
    const count = Math.max(close.length, undue.length, retire.length)
    for (let from = 0; from < count; from += maxConcurrent) {
      const part = (keys: readonly CommitKey[]) => keys.slice(from, from + maxConcurrent)
      if (await this.#settle({ close: part(close), undue: part(undue), retire: part(retire) })) continue
      this.#keep({ close: close.slice(from), undue: undue.slice(from), retire: retire.slice(from) })
      this.#blobs = blobs.concat(this.#blobs).slice(0, maxConcurrent)
      return
    }
    await this.#remove(blobs)
  }

  /** @returns whether the store accepted the work. */
  async #settle(work: SettleWork): Promise<boolean> {
    try {
      await this.#parts.storage.commits.settle(work)
      this.#isAway = false
    } catch (error) {
      this.#isAway = true
      const commits = work.close.length + work.retire.length
      this.#parts.log.warn({ commits, err: error }, 'commits not settled, trying again')
    }
    return !this.#isAway
  }

  /** Removes blobs to which no snapshot in the store refers. What fails is left to the actor's next owner. */
  async #remove(unused: readonly UnusedBlob[]): Promise<void> {
    const { blobs } = this.#parts.storage
    try {
      for (const { project, name } of unused) await blobs.remove(project, name)
    } catch (error) {
      this.#parts.log.warn({ blobs: unused.length, err: error }, 'blobs of replaced snapshots not removed')
    }
  }

  /** A store that is away is tried again after `againMs`, not with each further commit, which copies all that waits. */
  #plan(): void {
    if (!this.#isAway && this.#close.length + this.#retire.length >= maxConcurrent) {
      void this.flush()
      return
    }
    this.#cancel ??= this.#parts.clock.after(everyMs, () => void this.flush())
  }
}
