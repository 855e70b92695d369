import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Collection, MongoClient } from 'mongodb'

/** Collection of the names of emptied databases that can be reused, in the MongoDB that all tests share. */
const emptied = { database: 'e2e_emptied', collection: 'databases' } as const
/** The collection that records which fields are indexed: it stays in an emptied database, as the indexes do. */
const madeIndexes = 'kinds'

/** Rows by their table or collection and their key, with the time at which each expires in ms since the epoch; null for never. */
export type Rows = Readonly<Record<string, ReadonlyMap<string, number | null>>>

/**
 * The data of a test installation on MongoDB: its own database and a folder.
 *
 * In the MongoDB that tests start for themselves (test/setup/mongod.ts) a database is emptied at the end and reused by a
 * later installation: creating its 400 indexes costs more than most tests. In any other MongoDB it is new, and dropped.
 */
export class MongoData {
  readonly folder = mkdtempSync(join(tmpdir(), 'troupe-data-'))
  readonly mongodbUrl: string
  readonly #database: string
  readonly #client: MongoClient
  readonly #isShared: boolean

  private constructor(
    client: MongoClient,
    { server, database }: { readonly server: string; readonly database: string },
  ) {
    const [, hosts, query = ''] = /^(mongodb(?:\+srv)?:\/\/[^/?]+)\/?[^?]*(\?.*)?$/.exec(server) ?? []
    this.mongodbUrl = `${hosts}/${database}${query}`
    this.#database = database
    this.#client = client
    this.#isShared = server === process.env.MONGODB_OF_TESTS
  }

  /**
   * @param server its URL; a path in it is ignored
   * @param isNew requires a database that was never used: a server finds no collection in it
   */
  static async open(server: string, { isNew = false } = {}): Promise<MongoData> {
    const client = await MongoClient.connect(server)
    const takes = server === process.env.MONGODB_OF_TESTS && !isNew
    const left = takes ? await emptiedIn(client).findOneAndDelete({}) : null
    return new MongoData(client, { server, database: left?._id ?? `e2e_${randomBytes(6).toString('hex')}` })
  }

  async rows(): Promise<Rows> {
    return Object.fromEntries(
      await this.#each(async (each) => {
        const found = await each.find({}, { projection: { expires_at: 1 } }).toArray()
        return new Map(found.map(({ _id, expires_at = null }) => [String(_id), expires_at]))
      }),
    )
  }

  async unfinished(): Promise<Record<string, readonly string[]>> {
    const found = await this.#each(async (each) => {
      const left = each.collectionName === 'call_segments' ? {} : { $or: [{ open: true }, { delivered: false }] }
      return (await each.find(left, { projection: { _id: 1 } }).toArray()).map(({ _id }) => String(_id))
    })
    return Object.fromEntries(found.filter(([, keys]) => keys.length > 0))
  }

  async mentions(text: string): Promise<Record<string, number>> {
    const counts = await this.#each(async (each) => {
      // BSON stores texts and bytes unencoded, so no document has to be parsed
      const documents = await each.find<Buffer>({}, { raw: true }).toArray()
      return documents.filter((document) => document.includes(text)).length
    })
    return Object.fromEntries(counts.filter(([, count]) => count > 0))
  }

  async remove(): Promise<void> {
    await (this.#isShared ? this.#empty() : this.#db.dropDatabase())
    await this.#client.close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  get #db() {
    return this.#client.db(this.#database)
  }

  /** Reads each collection. */
  async #each<T>(read: (each: Collection) => Promise<T>): Promise<readonly (readonly [name: string, found: T])[]> {
    const collections = await this.#db.collections()
    return Promise.all(collections.map(async (each) => [each.collectionName, await read(each)] as const))
  }

  async #empty(): Promise<void> {
    const collections = await this.#db.collections()
    const others = collections.filter(({ collectionName }) => collectionName !== madeIndexes)
    await Promise.all(others.map((each) => each.deleteMany({})))
    await emptiedIn(this.#client).insertOne({ _id: this.#database })
  }
}

const emptiedIn = (client: MongoClient) => client.db(emptied.database).collection<{ _id: string }>(emptied.collection)
