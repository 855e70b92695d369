import type { Collection, Db, Document } from 'mongodb'
import type { Lease, LeaseClaim, LeaseStore, LeaseTable, LeaseTerm, Member } from '../cluster-ports.ts'
import { StoreUnavailable } from '../ports.ts'
import { duplicateKey, guarded } from './errors.ts'
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

/** Time in ms for which crashed members are kept, for inspection of the database; the next start removes them. */
const keptMs = 3_600_000

/**
 * Leases in MongoDB (4.4 or later), by the server's own clock: `$$NOW` is constant within one command.
 *
 * Leases and members share a collection, so that one command renews everything that a process holds. A renewal does not
 * change the indexed holder, and reads only the documents of its process.
 */
export class MongoLeases implements LeaseStore {
  readonly #db: Db
  readonly #owners: Collection<OwnerDocument>

  constructor(db: Db) {
    this.#db = db
    this.#owners = db.collection<OwnerDocument>(leasesCollection, {
      readConcern: { level: 'majority' },
      writeConcern: durable,
    })
  }

  async read(): Promise<LeaseTable> {
    const documents = await this.#find({})
    return {
      leases: documents.flatMap(leaseOf),
      members: documents.flatMap(({ member, leftMs }) => (member !== undefined && leftMs > 0 ? [member] : [])),
    }
  }

  async acquire(self: Member, claims: readonly LeaseClaim[], term: LeaseTerm): Promise<readonly Lease[]> {
    if (claims.length === 0) return []
    await this.#update(claims.map((claim) => takeover(self, claim, term)))
    const taken = await this.#find({ _id: { $in: claims.map(({ shard }) => shard) }, holder: self.process })
    return taken.flatMap(leaseOf)
  }

  async renew(self: Member, ms: number): Promise<readonly Lease[]> {
    const until = fromNow(ms)
    const answer = await this.#update([
      { q: { holder: self.process }, u: [{ $set: { until } }], multi: true },
      { q: { _id: memberId(self.process) }, u: [{ $set: { member: { $literal: self }, until } }], upsert: true },
    ])
    if (answer.upserted !== undefined) await this.#forgetTheDead()
    return (await this.#find({ holder: self.process })).flatMap(leaseOf)
  }

  async release(process: string, shards: readonly number[]): Promise<void> {
    if (shards.length > 0) await this.#free({ _id: { $in: [...shards] }, holder: process })
  }

  async leave(process: string): Promise<void> {
    await this.#free({ holder: process })
    await guarded(this.#owners.deleteOne({ _id: memberId(process) }))
  }

  async #free(held: Document): Promise<void> {
    const u = { $set: { holder: null, address: null, until: new Date(0) } }
    await this.#update([{ q: held, u, multi: true }])
  }

  async #forgetTheDead(): Promise<void> {
    const long = { $lte: ['$until', fromNow(-keptMs)] }
    await guarded(this.#owners.deleteMany({ member: { $exists: true }, $expr: long }))
  }

  /** Sends the bare command, as for commits: one round trip, with errors reported per statement. */
  async #update(updates: readonly Document[]): Promise<Document> {
    const command = { update: leasesCollection, updates, ordered: false, writeConcern: durable }
    const answer = await guarded(this.#db.command(command))
    const refused = writeErrorsIn(answer).find(({ code }) => code !== duplicateKey)
    if (refused) throw new StoreUnavailable(`mongodb refused to change a lease: code ${refused.code}`)
    return answer
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

const fromNow = (ms: number): Document => ({ $add: ['$$NOW', ms] })

const memberId = (process: string): string => `member:${process}`
