import type { LeaseStore } from '#storage/cluster-ports.ts'
import {
  type AppendOutcome,
  type BlobStore,
  type Commit,
  type CommitStore,
  type EffectParts,
  type MergeOutcome,
  type RecordKind,
  type RecordStore,
  type SettleWork,
  type Storage,
  type StoredRecord,
  StoreUnavailable,
} from '#storage/ports.ts'
import type { Ledger } from '../ledger.ts'
import type { Faults } from './faults.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'
import { latencyMs, type SimProcess } from './sim-process.ts'
import type { VolatileWrites } from './volatile-writes.ts'

/** What processes did with the store. */
export interface StoreCounts {
  /** Operations without those on leases. */
  operations: number
  leaseOperations: number
  /** Shards that were taken. */
  taken: number
  /** Rows that were read, by operation, and the most that one of these read. */
  readonly rows: Record<string, { all: number; most: number }>
}

/** The parts of the store of one process. */
export interface SimStorageParts {
  /** The store that all processes share. */
  readonly inner: Storage
  readonly process: SimProcess
  readonly scheduler: Scheduler
  readonly random: Random
  /** Draws faults that were added later, so that existing seeds keep their course. */
  readonly later: Random
  readonly ledger: Ledger
  readonly note: (text: string) => void
  readonly volatile: VolatileWrites
  readonly counts: StoreCounts
  /** Called for each operation, so that faults can end. */
  readonly faults: () => Faults
}

/** The probability that a write which a dead process had sent still arrives. */
const landsAfterDeath = 0.6

/**
 * When an operation is done, and when the process receives the answer: ms from now. `lied`: the answer is a failure.
 */
interface Course {
  readonly doneIn: number | null
  readonly heardIn: number
  readonly lied: boolean
}

/**
 * A store as one process sees it: single-document operations only, each done at one time and answered at another. What
 * a process sent before it died may still be done afterwards.
 */
export class SimStorage {
  readonly storage: Storage
  readonly #parts: SimStorageParts

  constructor(parts: SimStorageParts) {
    this.#parts = parts
    const { inner } = parts
    const commits: Partial<CommitStore> = {
      append: (batch) => Promise.all(batch.map((commit) => this.#append(commit))),
      settle: (work) => this.#settle(work),
      forget: (actor) => this.#forget(actor),
      merge: (work) => this.#merge(work),
    }
    const records: Partial<RecordStore> = {
      project: async (rows) => {
        await Promise.all(rows.map((row) => this.#call('project', row.record.id, () => this.#project(row))))
      },
      insert: (kind, record) =>
        this.#call('insert', kind.name, () => this.#kept(kind, record, inner.records.insert(kind, record))),
      replace: (kind, record) =>
        this.#call('replace', kind.name, () => this.#kept(kind, record, inner.records.replace(kind, record))),
    }
    this.storage = {
      ...inner,
      commits: this.#through(inner.commits, commits),
      records: this.#through(inner.records, records),
      blobs: this.#through<BlobStore>(inner.blobs, {}),
      leases: inner.leases && this.#through<LeaseStore>(inner.leases, {}),
    }
  }

  #append(commit: Commit): Promise<AppendOutcome> {
    const { inner, ledger, note, process } = this.#parts
    const write = async (): Promise<AppendOutcome> => {
      const [outcome = 'unknown'] = await inner.commits.append([commit])
      note(`${process.name} ${commit.actor}:${commit.seq} ${commit.event.type} by ${plain(commit.cause)}: ${outcome}`)
      if (outcome === 'done') ledger.wrote(commit)
      return outcome
    }
    return this.#call('append', commit.actor, write).catch(() => 'unknown')
  }

  async #project(row: Parameters<RecordStore['project']>[0][number]): Promise<void> {
    await this.#parts.inner.records.project([row])
    this.#parts.ledger.kept(row.kind.name, row.record)
  }

  async #kept<O extends string>(kind: RecordKind, record: StoredRecord, writing: Promise<O>): Promise<O> {
    const outcome = await writing
    if (outcome === 'done') this.#parts.ledger.kept(kind.name, record)
    return outcome
  }

  async #settle({ close, undue, retire }: SettleWork): Promise<void> {
    const one = (work: Partial<SettleWork>): Promise<void> =>
      this.#call('settle', '', async () => this.#housekeep({ close: [], undue: [], retire: [], ...work }))
    await Promise.all([
      ...close.map((key) => one({ close: [key] })),
      ...undue.map((key) => one({ undue: [key] })),
      ...retire.map((key) => one({ retire: [key] })),
    ])
  }

  /** A store that may lose writes has not persisted this one when it acknowledges it. */
  async #housekeep(work: SettleWork): Promise<void> {
    const { faults, inner, volatile } = this.#parts
    if (faults().forgets === 0) await inner.commits.settle(work)
    else volatile.later(() => void inner.commits.settle(work))
  }

  #merge(work: EffectParts): Promise<MergeOutcome> {
    const { inner, process, note } = this.#parts
    return this.#call('merge', work.actor, async () => {
      const outcome = await inner.commits.merge(work)
      note(`${process.name} ${work.effect} merged ${outcome.kind === 'removed' ? outcome.commits : outcome.kind}`)
      return outcome
    })
  }

  #forget(actor: string): Promise<void> {
    return this.#call('forget', actor, async () => {
      await this.#parts.inner.commits.forget(actor)
      this.#parts.ledger.forgot(actor)
    })
  }

  /** Every other method is one operation. */
  #through<T extends object>(target: T, instead: Partial<T>): T {
    return new Proxy(target, {
      get: (_, name) => {
        if (name in instead) return Reflect.get(instead, name)
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return (...args: readonly unknown[]) =>
          this.#call(String(name), String(args[0]), async () =>
            this.#counted(String(name), await Reflect.apply(method, target, args)),
          )
      },
    })
  }

  #counted(name: string, found: unknown): unknown {
    const { counts } = this.#parts
    if (name === 'acquire') counts.taken += rowsIn(found)
    if (leaseOperations.has(name)) return found
    counts.rows[name] ??= { all: 0, most: 0 }
    const rows = counts.rows[name]
    rows.all += rowsIn(found)
    rows.most = Math.max(rows.most, rowsIn(found))
    return found
  }

  #call<T>(name: string, what: string, work: () => Promise<T>): Promise<T> {
    const { process, scheduler, random, note, counts } = this.#parts
    if (leaseOperations.has(name)) counts.leaseOperations++
    else counts.operations++
    const course = this.#course()
    const lands = random.chance(landsAfterDeath)
    return new Promise((resolve, reject) => {
      if (process.dead) return
      const fail = (): void => reject(new StoreUnavailable('simulated'))
      if (course.lied) {
        note(`${process.name} ${name} ${what} ${course.doneIn === null ? 'refused' : 'unanswered'}`)
        process.after(course.heardIn, fail)
      }
      if (course.doneIn === null) return
      scheduler.after(course.doneIn, () => {
        if (process.dead && !lands) return
        work().then(
          (value) => course.lied || process.after(course.heardIn, () => resolve(value)),
          (error: unknown) => course.lied || process.after(course.heardIn, () => reject(error)),
        )
      })
    })
  }

  #course(): Course {
    const { random, process, later } = this.#parts
    // it receives no answer until its timeout
    if (!process.reachesStore) return { doneIn: null, heardIn: later.between(400, 3000), lied: true }
    const { refused, lost, slow, late } = this.#parts.faults()
    const point = random.next()
    const soon = latencyMs(random)
    if (point < refused) return { doneIn: null, heardIn: soon, lied: true }
    if (point < refused + lost) return { doneIn: soon, heardIn: soon + random.between(0, 300), lied: true }
    if (point < refused + lost + late) {
      return { doneIn: random.between(100, 15_000), heardIn: random.between(0, 800), lied: true }
    }
    if (point < refused + lost + late + slow) {
      return { doneIn: random.between(50, 3000), heardIn: latencyMs(random), lied: false }
    }
    return { doneIn: soon, heardIn: latencyMs(random), lied: false }
  }
}

/** The rows of an answer: those that a total counts, too. */
const rowsIn = (found: unknown): number => {
  if (typeof found === 'number') return found
  if (Array.isArray(found)) return found.length
  return Number(Object(found).count ?? (typeof found === 'object' && found !== null))
}

const leaseOperations: ReadonlySet<string> = new Set(['renew', 'read', 'acquire', 'release', 'leave'])

/** A cause without the nonce at the end of a runtime decision, which differs in each run. */
const plain = (cause: string): string => cause.replace(/(\$\w+)\/.*$/, '$1')
