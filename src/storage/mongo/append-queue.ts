import type { Db, Document } from 'mongodb'
import type { AppendOutcome, Commit, CommitKey } from '../ports.ts'
import { duplicateKey } from './errors.ts'
import { byId, type CommitDocument, toDocument, type WriteError, withKey, writeErrorsIn } from './schema.ts'

/** One call to `append`: resolves when the last of its commits has its outcome. */
interface Call {
  readonly outcomes: AppendOutcome[]
  left: number
  readonly resolve: (outcomes: readonly AppendOutcome[]) => void
}

/** One queued commit, and the position of its outcome. */
interface Waiting {
  readonly document: CommitDocument
  /** `Commit.replaces`. */
  readonly replaces: number
  readonly call: Call
  readonly at: number
}

const maxInFlight = 2
const maxCommits = 1_000
/** UTF-16 units; at most three bytes each, so a batch stays under the driver's buffer of 17 MB. */
const maxUnits = 4_000_000

/**
 * Group commit: commits appended in one turn of the event loop, or while two batches are in flight, go into one
 * unordered `insert`, each with its own outcome.
 *
 * It sends the bare command rather than `insertMany`: the driver's bulk code measures each document before it writes it
 * and hides `keyPattern`, and its retries would see their own first write as a duplicate
 * (specs/decisions/0040-storage.md).
 */
export class AppendQueue {
  readonly #db: Db
  readonly #collection: string
  #waiting: Waiting[] = []
  readonly #inFlight = new Set<Promise<void>>()
  readonly #removals = new Set<Promise<unknown>>()
  #scheduled = false

  constructor(db: Db, collection: string) {
    this.#db = db
    this.#collection = collection
  }

  /** Returns outcomes in the order given; never rejects. */
  append(commits: readonly Commit[]): Promise<readonly AppendOutcome[]> {
    if (commits.length === 0) return Promise.resolve([])
    return new Promise((resolve) => {
      const call: Call = { outcomes: [], left: commits.length, resolve }
      for (const [at, commit] of commits.entries()) {
        this.#waiting.push({
          document: toDocument(commit),
          replaces: Math.min(commit.replaces ?? 0, maxCommits),
          call,
          at,
        })
      }
      this.#schedule()
    })
  }

  /** Resolves when all appended commits have their outcome. */
  async drain(): Promise<void> {
    while (this.#waiting.length > 0 || this.#inFlight.size > 0 || this.#removals.size > 0) {
      await new Promise((resolve) => setImmediate(resolve))
      await Promise.all([...this.#inFlight, ...this.#removals])
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0 || this.#inFlight.size >= maxInFlight) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      while (this.#waiting.length > 0 && this.#inFlight.size < maxInFlight) this.#launch(this.#take())
    })
  }

  #take(): readonly Waiting[] {
    let [count, units] = [0, 0]
    for (const { document } of this.#waiting) {
      units += document.body.length + (document.snapshot?.length ?? 0) + (document.events?.length ?? 0)
      if (count > 0 && (count >= maxCommits || units > maxUnits)) break
      count++
    }
    const batch = this.#waiting
    this.#waiting = batch.splice(count)
    return batch
  }

  #launch(batch: readonly Waiting[]): void {
    const sending = this.#send(batch).finally(() => {
      this.#inFlight.delete(sending)
      this.#schedule()
    })
    this.#inFlight.add(sending)
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    const documents = batch.map(({ document }) => document)
    try {
      const answer = await this.#db.command({
        insert: this.#collection,
        documents,
        ordered: false,
        writeConcern: { w: 'majority', j: true },
      })
      const errors = writeErrorsIn(answer)
      this.#removeReplaced(batch, errors)
      finish(batch, 'done', errors)
    } catch {
      finish(batch, 'unknown', [])
    }
  }

  /**
   * Removes the commits that written ones replace: of each actor the last first, so that a reader who has seen only the
   * first of them finds the others in the commit that replaced them. What fails is left to `CommitStore.merge`.
   */
  #removeReplaced(batch: readonly Waiting[], errors: readonly WriteError[]): void {
    const failed = new Set(errors.map(({ index }) => index))
    const deletes = batch.flatMap(({ document: { actor, seq }, replaces }, index) =>
      failed.has(index) ? [] : Array.from({ length: replaces }, (_, n) => ({ actor, seq: seq - 1 - n })),
    )
    if (deletes.length === 0) return
    const removal = this.#remove(deletes).finally(() => this.#removals.delete(removal))
    this.#removals.add(removal)
  }

  async #remove(keys: readonly CommitKey[]): Promise<void> {
    for (let from = 0; from < keys.length; from += maxCommits) {
      const deletes = keys.slice(from, from + maxCommits).map((key) => ({ q: withKey(key), limit: 1, ...byId }))
      const done = this.#db.command({ delete: this.#collection, deletes, ordered: true }).then(isWhole, () => false)
      if (!(await done)) return
    }
  }
}

const isWhole = (answer: Document): boolean => writeErrorsIn(answer).length === 0

const finish = (batch: readonly Waiting[], outcome: AppendOutcome, errors: readonly WriteError[]): void => {
  for (const { call, at } of batch) call.outcomes[at] = outcome
  for (const error of errors) {
    const failed = batch[error.index]
    if (failed) failed.call.outcomes[failed.at] = outcomeOf(error)
  }
  for (const { call } of batch) {
    if (--call.left === 0) call.resolve(call.outcomes)
  }
}

/** The server checks `_id`, hence (actor, seq), before (actor, cause). */
const outcomeOf = ({ code, keyPattern }: WriteError): AppendOutcome => {
  if (code !== duplicateKey || !keyPattern) return 'unknown'
  if ('_id' in keyPattern) return 'overtaken'
  return 'cause' in keyPattern ? 'duplicate' : 'unknown'
}
