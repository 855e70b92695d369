import type { Db, Document } from 'mongodb'
import type { ShardKey } from '#storage/mongo/sharding.ts'
import { codes, Refusal, type Routing } from './routing.ts'

/** The commands about collections and indexes, as a mongos executes or refuses them. */
export class Catalog {
  readonly #routing: Routing
  readonly #dbs: (database: string) => readonly Db[]
  readonly #enabled = new Set<string>()

  /** @param dbs the database of this name on each shard. */
  constructor(routing: Routing, dbs: (database: string) => readonly Db[]) {
    this.#routing = routing
    this.#dbs = dbs
  }

  enableSharding(database: string): Document {
    this.#enabled.add(database)
    return { ok: 1 }
  }

  /**
   * Shards a collection, and moves its documents to their shards at once, which a balancer does over time.
   *
   * @throws {Refusal} without an index that begins with the key, or with a unique one that does not.
   */
  async shardCollection({ shardCollection: namespace, key, unique = false }: Document): Promise<Document> {
    const [database = '', ...names] = String(namespace).split('.')
    const name = names.join('.')
    const keyOf: ShardKey = Object.fromEntries(
      Object.entries(key).map(([field, order]) => [field, order === 'hashed' ? 'hashed' : 1]),
    )
    const known = this.#routing.keys.get(namespace)
    if (known !== undefined) {
      if (JSON.stringify(known) === JSON.stringify(keyOf)) return { collectionsharded: namespace, ok: 1 }
      throw new Refusal(codes.alreadyInitialized, `${namespace} is sharded with another key`)
    }
    if (!this.#enabled.has(database)) throw new Refusal(codes.illegalOperation, `sharding not enabled for ${database}`)
    if (unique) throw new Refusal(codes.invalidOptions, 'the proxy knows no unique shard keys')
    const [primary, ...others] = this.#dbs(database)
    if (primary === undefined) throw new Error('the proxy has no shards')
    await this.#requireIndex(primary, name, keyOf)
    const indexes = (await primary.collection(name).indexes()).filter(({ name: of }) => of !== '_id_')
    for (const other of others) {
      await other.createCollection(name).catch(() => undefined)
      if (indexes.length > 0) await other.collection(name).createIndexes(indexes.map(withoutVersion))
    }
    this.#routing.keys.set(namespace, keyOf)
    await this.#distribute(this.#dbs(database), name, namespace)
    return { collectionsharded: namespace, ok: 1 }
  }

  async #requireIndex(primary: Db, name: string, key: ShardKey): Promise<void> {
    const collection = primary.collection(name)
    const indexes = await collection.indexes().catch(() => [])
    for (const index of indexes) this.#requireUniqueness(key, index)
    if (indexes.some((index) => supports(index, key))) return
    if ((await collection.findOne()) !== null)
      throw new Refusal(codes.invalidOptions, `${name} has documents and no index that begins with the shard key`)
    await collection.createIndex(key)
  }

  #requireUniqueness(key: ShardKey, { key: indexed, unique = false }: Document): void {
    if (!unique) return
    const fields = Object.keys(indexed)
    if (fields[0] === '_id' || Object.keys(key).every((field, at) => fields[at] === field)) return
    throw new Refusal(codes.cannotCreateIndex, `a unique index on ${fields} does not begin with ${Object.keys(key)}`)
  }

  async #distribute(dbs: readonly Db[], name: string, namespace: string): Promise<void> {
    for await (const document of dbs[0]?.collection(name).find() ?? []) {
      const [shard = 0] = this.#routing.ofDocument(namespace, document).shards
      if (shard === 0) continue
      await dbs[shard]?.collection(name).insertOne(document)
      await dbs[0]?.collection(name).deleteOne({ _id: document._id })
    }
  }

  /** @throws {Refusal} for a unique index that a shard could not check. */
  requireIndexes(namespace: string, { indexes }: Document): void {
    const key = this.#routing.keys.get(namespace)
    if (key === undefined) return
    for (const index of indexes) this.#requireUniqueness(key, index)
  }

  /** @throws {Refusal} when no index would be left that begins with the shard key. */
  async requireKept(database: string, { dropIndexes: name, index }: Document): Promise<void> {
    const key = this.#routing.keys.get(`${database}.${name}`)
    if (key === undefined) return
    const indexes = (await this.#dbs(database)[0]?.collection(name).indexes()) ?? []
    if (!indexes.some((each) => each.name !== index && index !== '*' && supports(each, key)))
      throw new Refusal(codes.invalidOptions, `${index} is the only index that begins with the shard key of ${name}`)
  }

  /** Forgets the sharding of what is dropped. */
  dropped(database: string, name: string | null): void {
    for (const namespace of this.#routing.keys.keys()) {
      const isIn = name === null ? namespace.startsWith(`${database}.`) : namespace === `${database}.${name}`
      if (isIn) this.#routing.keys.delete(namespace)
    }
  }
}

/** Whether the index begins with the key, and has every document. */
const supports = ({ key, partialFilterExpression, sparse = false }: Document, wanted: ShardKey): boolean => {
  const parts = Object.entries(key)
  const isPrefix = Object.entries(wanted).every(
    ([field, order], at) => parts[at]?.[0] === field && String(parts[at]?.[1]) === String(order),
  )
  return isPrefix && partialFilterExpression === undefined && !sparse
}

const withoutVersion = ({
  v: _version,
  key,
  ...rest
}: Document): { key: Record<string, 1>; name: string } & Document => ({
  ...{ key, name: rest.name },
  ...rest,
})
