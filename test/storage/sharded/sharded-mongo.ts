import { randomBytes } from 'node:crypto'
import { MongoClient } from 'mongodb'
import { startMongod } from '#scripts/services/mongod.ts'
import type { Service } from '#scripts/services/service.ts'
import { shardCollections } from '#storage/mongo/shard-collections.ts'
import type { RecordKind, Storage } from '#storage/ports.ts'
import { openPatientMongo } from '../mongo-patience.ts'
import { ShardedProxy } from './sharded-proxy.ts'

/** Two real mongods behind the stand-in for a mongos (sharded-proxy.ts), and a database of its own. */
export class ShardedMongo {
  readonly proxy: ShardedProxy
  readonly database = `sharded_${randomBytes(6).toString('hex')}`
  readonly #own: Service
  readonly #shards: readonly string[]

  private constructor(proxy: ShardedProxy, own: Service, shards: readonly string[]) {
    this.proxy = proxy
    this.#own = own
    this.#shards = shards
  }

  /** One of the mongods is that of all tests. */
  static async start(): Promise<ShardedMongo> {
    const own = await startMongod()
    const shards = [process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/', own.url]
    return new ShardedMongo(await ShardedProxy.start(shards), own, shards)
  }

  get url(): string {
    return `${this.proxy.url}${this.database}`
  }

  /** Opens the database, prepared for these kinds and sharded as `troupe prepare --sharded` does it. */
  async open(kinds: readonly RecordKind[], now: () => number = Date.now): Promise<Storage> {
    const place = { url: this.proxy.url, database: this.database }
    const storage = await openPatientMongo({ ...place, now })
    await storage.records.prepare(kinds)
    await shardCollections(place, kinds)
    return storage
  }

  /** Number of documents of these collections on each shard. */
  async counts(...names: readonly string[]): Promise<readonly (readonly number[])[]> {
    const clients = this.#shards.map((url) => new MongoClient(url))
    const counted = (name: string) => clients.map((each) => each.db(this.database).collection(name).countDocuments())
    const all = await Promise.all(names.map((name) => Promise.all(counted(name))))
    await Promise.all(clients.map((each) => each.close()))
    return all
  }

  async stop(): Promise<void> {
    const client = new MongoClient(this.proxy.url)
    await client.db(this.database).dropDatabase()
    await client.close()
    await this.proxy.stop()
    await this.#own.stop()
  }
}
