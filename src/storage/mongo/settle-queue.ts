import type { Db } from 'mongodb'
import { keyOf } from '../commit-row.ts'
import { type CommitKey, type SettleWork, StoreUnavailable } from '../ports.ts'
import { asPortError } from './errors.ts'
import { byId, writeErrorsIn } from './schema.ts'

/** Fields to unset, by their bits. */
const fields = [
  ['open', 1],
  ['due', 2],
  ['snapshot', 4],
] as const
/** Bits that each kind of work unsets. */
const bits = { close: 1, undue: 2, retire: 7 } as const

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Batching window in ms. */
const gatherMs = 5

/**
 * Collects the fields to unset per commit, and sends them as few updates over many ids.
 *
 * Acknowledged by a majority, because reads of commits see only what a majority holds: with w:1 the next sweep found
 * closed commits open. Not fsynced: the journal is sequential, so a change that survives a crash comes after the row
 * and the messages that the commit waited for, and a lost one is settled again by the next sweep.
 */
export class SettleQueue {
  readonly #db: Db
  readonly #collection: string
  #fields = new Map<string, number>()
  #waiters: Waiter[] = []
  #running: Promise<void> | null = null

  constructor(db: Db, collection: string) {
    this.#db = db
    this.#collection = collection
  }

  /** Resolves when the work is done. @throws {StoreUnavailable} */
  settle(work: SettleWork): Promise<void> {
    this.#add(work.close, bits.close)
    this.#add(work.undue, bits.undue)
    this.#add(work.retire, bits.retire)
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /** Resolves when nothing is left to do; never rejects. */
  async drain(): Promise<void> {
    await this.#running
  }

  #add(keys: readonly CommitKey[], dropped: number): void {
    for (const key of keys) {
      const id = keyOf(key)
      this.#fields.set(id, (this.#fields.get(id) ?? 0) | dropped)
    }
  }

  async #run(): Promise<void> {
    while (this.#waiters.length > 0) {
      await new Promise((resolve) => setTimeout(resolve, gatherMs))
      const [work, waiters] = [this.#fields, this.#waiters]
      this.#fields = new Map()
      this.#waiters = []
      try {
        await this.#send(work)
        for (const { resolve } of waiters) resolve()
      } catch (error) {
        for (const { reject } of waiters) reject(asPortError(error))
      }
    }
    this.#running = null
  }

  async #send(work: ReadonlyMap<string, number>): Promise<void> {
    const groups = Map.groupBy(work, ([, dropped]) => dropped)
    const updates = [...groups].map(([dropped, commits]) => ({
      q: {
        actor: { $in: [...new Set(commits.map(([id]) => id.slice(0, id.lastIndexOf(':'))))] },
        _id: { $in: commits.map(([id]) => id) },
      },
      u: { $unset: Object.fromEntries(fields.filter(([, bit]) => (dropped & bit) !== 0)) },
      multi: true,
      ...byId,
    }))
    if (updates.length === 0) return
    const command = { update: this.#collection, updates, ordered: false, writeConcern: { w: 'majority' } } as const
    const [error] = writeErrorsIn(await this.#db.command(command))
    // of a cluster, one shard may fail alone
    if (error) throw new StoreUnavailable(`mongodb refused to settle commits: code ${error.code}`)
  }
}
