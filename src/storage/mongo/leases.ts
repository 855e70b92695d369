import type { Collection, Db, Document } from 'mongodb'
import type { Lease, LeaseClaim, LeaseStore, LeaseTable, LeaseTerm, Member } from '../cluster-ports.ts'
import { StoreUnavailable } from '../ports.ts'
import { duplicateKey, guarded } from './errors.ts'
import { ReadLeases } from './read-leases.ts'
import { leaseOf, type OwnerDocument, type OwnerView, whilePreparing, writeErrorsIn } from './schema.ts'

/**
 * Collection of leases and members: one document per shard that was ever held (`_id` is its number), and one per
 * member.
 */
const leasesCollection = 'leases'

const durable = { w: 'majority', j: true } as const

/** Creates the index of `leases`. */
export const prepareLeases = async (db: Db): Promise<void> => {
  await guarded(db.collection(leasesCollection, whilePreparing).createIndex({ holder: 1 }))
}

/** Remaining time of each lease and membership, by the server's clock at the time of the read. */
const withTimeLeft = { $set: { leftMs: { $subtract: ['$until', '$$NOW'] } } } as const

/** Time in ms within which a change is made whose answer was lost. */
const doubtedMs = 60_000

/** Time in ms for which crashed members are kept, for inspection of the database; the next start removes them. */
const keptMs = 3_600_000

/**
 * Leases in MongoDB (4.4 or later), by the server's own clock: `$$NOW` is constant within one command.
 *
 * Leases and members share a collection, so that one command renews everything that a process holds. A renewal does not
 * change the indexed holder. What is read are the members, and the leases of those that state another digest of them than
 * this process has read: an idle node reads one document for each node.
 */
export class MongoLeases implements LeaseStore {
  readonly #db: Db
  readonly #owners: Collection<OwnerDocument>
  readonly #known = new ReadLeases()
  /** Whether `#known` has all leases. */
  #isRead = false
  /** Number of changes that this process has made. */
  #changed = 0
  /** Until when changes may be made whose answers were lost, by `performance.now()`. */
  #doubtedUntil = 0

  constructor(db: Db) {
    this.#db = db
    this.#owners = db.collection<OwnerDocument>(leasesCollection, {
      readConcern: { level: 'majority' },
      writeConcern: durable,
    })
  }

  async read(): Promise<LeaseTable> {
    const [isRead, changed] = [this.#isRead, this.#changed]
    const documents = await this.#find(isRead ? { _id: { $gte: memberId(''), $lt: 'member;' } } : {})
    const members = documents.filter(({ member }) => member !== undefined)
    if (!isRead) this.#known.reset(members, documents)
    const outdated = isRead ? this.#known.outdated(members) : documents.flatMap(({ holder }) => holder ?? [])
    if (isRead) await this.#refresh(outdated, members)
    // a change that was made meanwhile may not be in what was read
    this.#isRead = this.#changed === changed
    return {
      leases: this.#known.table(members, outdated),
      members: members.flatMap(({ member, leftMs }) => (member !== undefined && leftMs > 0 ? [member] : [])),
    }
  }

  async acquire(self: Member, claims: readonly LeaseClaim[], term: LeaseTerm): Promise<readonly Lease[]> {
    if (claims.length === 0) return []
    this.#changes()
    await this.#update([...claims.map((claim) => takeover(self, claim, term)), announced(self, term)])
    const taken = await this.#find({ _id: { $in: claims.map(({ shard }) => shard) }, holder: self.process })
    return taken.flatMap(leaseOf)
  }

  async renew(self: Member, ms: number): Promise<readonly Lease[]> {
    const { process } = self
    const until = fromNow(ms)
    const held = { $literal: this.#known.statementOf(process, this.#changed) }
    const answer = await this.#update([
      { q: { holder: process }, u: [{ $set: { until } }], multi: true },
      { q: { _id: memberId(process) }, u: [{ $set: { member: { $literal: self }, held, until } }], upsert: true },
    ])
    if (answer.upserted !== undefined) await this.#forgetTheDead()
    const renewed = Number(answer.n) - 1
    // others only take leases, so that as many as before are the same ones
    const isCertain = this.#isRead && performance.now() >= this.#doubtedUntil
    const isSame = isCertain && renewed === this.#known.of(process).length
    if (!isSame) await this.#refresh([process], [])
    return this.#known.of(process).map((lease) => ({ ...lease, leftMs: ms }))
  }

  async release(process: string, shards: readonly number[]): Promise<void> {
    if (shards.length > 0) await this.#free({ _id: { $in: [...shards] }, holder: process }, process)
  }

  async leave(process: string): Promise<void> {
    await this.#free({ holder: process }, process)
    await guarded(this.#owners.deleteOne({ _id: memberId(process) }))
  }

  async #free(held: Document, process: string): Promise<void> {
    this.#changes()
    const u = { $set: { holder: null, address: null, until: new Date(0) } }
    await this.#update([{ q: held, u, multi: true }, changing(process)])
  }

  /** Notes that this process changes leases: what it knows is read again, also because a claim may be refused. */
  #changes(): void {
    this.#changed++
    this.#isRead = false
  }

  /** Reads the leases of these processes, those that they had, and those of none. */
  async #refresh(processes: readonly string[], members: readonly OwnerView[]): Promise<void> {
    if (processes.length === 0) return
    const shards = processes.flatMap((process) => this.#known.of(process).map(({ shard }) => shard))
    const free = { holder: null, _id: { $gte: 0 } }
    const documents = await this.#find({ $or: [{ holder: { $in: [...processes] } }, { _id: { $in: shards } }, free] })
    this.#known.replace(processes, members, documents)
  }

  async #forgetTheDead(): Promise<void> {
    const long = { $lte: ['$until', fromNow(-keptMs)] }
    await guarded(this.#owners.deleteMany({ member: { $exists: true }, $expr: long }))
  }

  /**
   * Sends the bare command, as for commits: one round trip, with errors reported per statement. The statements are
   * executed in order; that a lease has been inserted by another process ends none of the others.
   */
  async #update(updates: readonly Document[]): Promise<Document> {
    const command = { update: leasesCollection, updates, ordered: false, writeConcern: durable }
    try {
      const answer = await guarded(this.#db.command(command))
      const refused = writeErrorsIn(answer).find(({ code }) => code !== duplicateKey)
      if (refused) throw new StoreUnavailable(`mongodb refused to change a lease: code ${refused.code}`)
      return answer
    } catch (error) {
      this.#doubtedUntil = performance.now() + doubtedMs
      throw error
    }
  }

  #find(filter: Document): Promise<OwnerView[]> {
    return guarded(
      this.#owners.aggregate<OwnerView>([{ $match: filter }, withTimeLeft, { $sort: { _id: 1 } }]).toArray(),
    )
  }
}

/**
 * The statement that acquires one lease if it is as claimed. A lease that no process ever held is inserted; the second
 * process to try violates `_id` and does not get it.
 */
const takeover = (
  self: Member,
  { shard, epoch, leftMs }: LeaseClaim,
  { floor, ms, level = 0 }: LeaseTerm,
): Document => ({
  q: { _id: shard, epoch, ...(epoch > 0 && { $expr: { $lte: ['$until', fromNow(leftMs)] } }) },
  u: [
    {
      $set: {
        holder: { $literal: self.process },
        address: { $literal: self.address },
        epoch: Math.max(epoch + 1, floor),
        level: { $max: ['$level', level] },
        until: fromNow(ms),
      },
    },
  ],
  upsert: epoch === 0,
})

/** The statement after which other processes read the leases of a process until it has stated which ones it holds. */
const changing = (process: string): Document => ({ q: { _id: memberId(process) }, u: { $unset: { held: '' } } })

/** `changing` for a process that acquires leases, which may not be a member yet. */
const announced = (self: Member, { ms }: LeaseTerm): Document => ({
  q: { _id: memberId(self.process) },
  u: [
    {
      $set: {
        member: { $ifNull: ['$member', { $literal: self }] },
        until: { $ifNull: ['$until', fromNow(ms)] },
        held: '$$REMOVE',
      },
    },
  ],
  upsert: true,
})

const fromNow = (ms: number): Document => ({ $add: ['$$NOW', ms] })

const memberId = (process: string): string => `member:${process}`
