import type { Db } from 'mongodb'
import { keyOf } from '../commit-row.ts'
import type { CommitKey, SettleWork } from '../ports.ts'
import { asPortError } from './trouble.ts'

const fields = { close: 'open', undue: 'due', strip: 'snapshot' } as const

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** How long work gathers before it goes out. */
const gatherMs = 5

/**
 * Gathers what is to be dropped from which commits, and sends it as few updates over many ids.
 *
 * Acknowledged by a majority, because reads of commits see only what a majority holds: with w:1 the next sweep found closed
 * commits open. Not fsynced: the journal is sequential, so what survives a crash comes after the row and the messages that
 * the commit waited for, and what is lost is settled again by the next sweep.
 */
export class SettleQueue {
  readonly #db: Db
  readonly #collection: string
  #fields = new Map<string, Set<string>>()
  #waiters: Waiter[] = []
  #running: Promise<void> | null = null

  constructor(db: Db, collection: string) {
    this.#db = db
    this.#collection = collection
  }

  /** Resolves when the work is done. @throws {StoreUnavailable} */
  settle(work: SettleWork): Promise<void> {
    this.#add(work.close, fields.close)
    this.#add(work.undue, fields.undue)
    this.#add(work.strip, fields.strip)
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /** Resolves when nothing is left to do; never rejects. */
  async drain(): Promise<void> {
    await this.#running
  }

  #add(keys: readonly CommitKey[], field: string): void {
    for (const key of keys) {
      const id = keyOf(key)
      const known = this.#fields.get(id)
      if (known) known.add(field)
      else this.#fields.set(id, new Set([field]))
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

  async #send(work: ReadonlyMap<string, ReadonlySet<string>>): Promise<void> {
    const groups = Map.groupBy(work, ([, dropped]) => [...dropped].sort().join(' '))
    const updates = [...groups].map(([dropped, commits]) => ({
      q: { _id: { $in: commits.map(([id]) => id) } },
      u: { $unset: Object.fromEntries(dropped.split(' ').map((field) => [field, 1])) },
      multi: true,
    }))
    if (updates.length === 0) return
    await this.#db.command({ update: this.#collection, updates, ordered: false, writeConcern: { w: 'majority' } })
  }
}
