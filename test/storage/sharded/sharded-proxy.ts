import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type Db, type Document, MongoClient, MongoServerError } from 'mongodb'
import { Catalog } from './catalog.ts'
import { aggregateMerged, Cursors, findMerged } from './reads.ts'
import { codes, Refusal, type Route, Routing } from './routing.ts'
import { asSent, requestsOf } from './wire.ts'
import { type BatchName, noKey, statementsOf, writeBatch } from './writes.ts'

/** Number of statements by their reach, and those of each command and collection that had no shard key. */
export interface Traffic {
  readonly targeted: number
  readonly prefix: number
  readonly broadcast: number
  readonly whole: number
  /** `find commits (scattered: sweep)` and how often. */
  readonly broadcasts: ReadonlyMap<string, number>
}

/**
 * A stand-in of ours for a mongos, in front of mongods: it routes by shard keys, merges what several shards return, and
 * refuses what a mongos refuses. It is no mongos: it has no chunks and no balancer, no transactions and no sessions, and
 * merges only the aggregations that the store uses. Where versions differ it takes the strictest rule: before 7.0 a
 * change of one document must name the shard key, and it refuses one by `_id` too, which a mongos sends to every shard.
 * It also refuses a statement without a shard key that the store does not declare (`scatteredStatements`).
 */
export class ShardedProxy {
  readonly #routing: Routing
  readonly #catalog: Catalog
  readonly #cursors = new Cursors()
  readonly #clients: readonly MongoClient[]
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((socket) => void this.#serve(socket))
  readonly #counts = { targeted: 0, prefix: 0, broadcast: 0, whole: 0 }
  readonly #broadcasts = new Map<string, number>()

  private constructor(urls: readonly string[]) {
    this.#clients = urls.map((url) => new MongoClient(url, { maxPoolSize: 40 }))
    this.#routing = new Routing(urls.length)
    this.#catalog = new Catalog(this.#routing, (database) => this.#clients.map((client) => client.db(database)))
  }

  /** Starts the proxy on a free loopback port. */
  static async start(urls: readonly string[]): Promise<ShardedProxy> {
    const proxy = new ShardedProxy(urls)
    await Promise.all(proxy.#clients.map((client) => client.connect()))
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get url(): string {
    const { port }: AddressInfo = Object(this.#server.address())
    return `mongodb://127.0.0.1:${port}/`
  }

  /** What passed since the start or the last `reset`. */
  get traffic(): Traffic {
    return { ...this.#counts, broadcasts: new Map(this.#broadcasts) }
  }

  reset(): void {
    Object.assign(this.#counts, { targeted: 0, prefix: 0, broadcast: 0, whole: 0 })
    this.#broadcasts.clear()
  }

  async stop(): Promise<void> {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all(this.#clients.map((client) => client.close()))
  }

  async #serve(socket: Socket): Promise<void> {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket)).setNoDelay(true)
    try {
      for await (const { command, answer, noAnswer } of requestsOf(socket)) {
        const reply = await this.#answer(command)
        if (!noAnswer) socket.write(answer(reply))
      }
    } catch {
      socket.destroy()
    }
  }

  async #answer(received: Document): Promise<Document> {
    const { $db: database = 'admin', lsid: _session, txnNumber: _number, $clusterTime: _time, ...command } = received
    try {
      if (command.startTransaction === true)
        throw new Refusal(codes.illegalOperation, 'the proxy has no transactions, and the store uses none')
      const { $readPreference: _preference, ...own } = command
      return await this.#execute(String(database), own)
    } catch (error) {
      if (error instanceof Refusal) return { ok: 0, code: error.code, errmsg: error.message }
      if (error instanceof MongoServerError) return { ok: 0, ...error.errorResponse }
      return { ok: 0, code: codes.hostUnreachable, errmsg: String(error) }
    }
  }

  async #execute(database: string, command: Document): Promise<Document> {
    const [name = ''] = Object.keys(command)
    const namespace = `${database}.${command[name]}`
    switch (name.toLowerCase()) {
      case 'hello':
      case 'ismaster':
        return hello
      case 'ping':
      case 'endsessions':
        return { ok: 1 }
      case 'enablesharding':
        return this.#catalog.enableSharding(command.enableSharding)
      case 'shardcollection':
        return this.#catalog.shardCollection(command)
      case 'find':
        return this.#first(namespace, command, await this.#read(namespace, command, findMerged))
      case 'aggregate':
        return this.#first(namespace, command, await this.#united(database, command))
      case 'getmore':
        return this.#cursors.next(Number(command.getMore), Number(command.batchSize ?? 1_000))
      case 'killcursors':
        return this.#cursors.close(command.cursors)
      case 'insert':
        return this.#write('insert', database, command)
      case 'update':
        return this.#write('update', database, command)
      case 'delete':
        return this.#write('delete', database, command)
      case 'findandmodify':
        return this.#changeOne(database, namespace, command)
      default:
        return this.#define(name, database, command)
    }
  }

  /** Executes an aggregation, and then each that it is united with, on the shards of their own collections. */
  async #united(database: string, { pipeline, ...command }: Document): Promise<Document[]> {
    const own: readonly Document[] = pipeline.filter(({ $unionWith }: Document) => $unionWith === undefined)
    const found = await this.#read(`${database}.${command.aggregate}`, { ...command, pipeline: own }, aggregateMerged)
    for (const { $unionWith } of pipeline) {
      if ($unionWith === undefined) continue
      const { coll, pipeline: united } = $unionWith
      found.push(...(await this.#united(database, { ...command, aggregate: coll, pipeline: united })))
    }
    return found
  }

  async #read(namespace: string, command: Document, execute: typeof findMerged): Promise<Document[]> {
    const [database = ''] = namespace.split('.')
    const [first] = command.pipeline ?? []
    const isStatistics = first !== undefined && first.$match === undefined
    const route = this.#routing.of(namespace, command.filter ?? first?.$match ?? {})
    this.#count(isStatistics ? { ...route, reach: 'whole' } : route, command)
    const { batchSize: _size, singleBatch: _single, cursor: _cursor, ...own } = command
    const isFind = command.find !== undefined
    return execute(isFind ? own : { ...own, cursor: {} }, route, (shard, part) =>
      this.#db(shard, database).runCursorCommand(part, asSent).toArray(),
    )
  }

  #first(namespace: string, { batchSize, singleBatch, cursor }: Document, documents: Document[]): Document {
    const size = Number(batchSize ?? cursor?.batchSize ?? 101)
    return this.#cursors.first(namespace, documents, { size, single: singleBatch === true })
  }

  async #write(name: BatchName, database: string, command: Document): Promise<Document> {
    const namespace = `${database}.${command[name]}`
    const statements = statementsOf(this.#routing, name, command, namespace)
    for (const { route } of statements) if (!(route instanceof Refusal)) this.#count(route, command)
    return writeBatch({ name, command, statements }, (shard, part) => this.#db(shard, database).command(part, asSent))
  }

  async #changeOne(database: string, namespace: string, command: Document): Promise<Document> {
    const route = this.#routing.of(namespace, command.query)
    if (!route.isOne) throw noKey('a change of one document', namespace)
    this.#count(route, command)
    return this.#db(route.shards[0] ?? 0, database).command(command, asSent)
  }

  /** Commands about collections go to all shards that have the collection, the others to the first shard. */
  async #define(name: string, database: string, command: Document): Promise<Document> {
    const namespace = `${database}.${command[name]}`
    if (name === 'createIndexes') this.#catalog.requireIndexes(namespace, command)
    if (name === 'dropIndexes') await this.#catalog.requireKept(database, command)
    const isOnAll = name === 'dropDatabase' || (changing.has(name) && this.#routing.keys.has(namespace))
    const shards = isOnAll ? this.#routing.all : [0]
    const answers = await Promise.all(shards.map((shard) => this.#db(shard, database).command(command, asSent)))
    if (name === 'drop' || name === 'dropDatabase')
      this.#catalog.dropped(database, name === 'drop' ? command.drop : null)
    return answers[0] ?? { ok: 1 }
  }

  #db(shard: number, database: string): Db {
    const client = this.#clients[shard]
    if (client === undefined) throw new Error(`there is no shard ${shard}`)
    return client.db(database)
  }

  #count({ reach }: Route, command: Document): void {
    this.#counts[reach]++
    if (reach !== 'broadcast') return
    const [[name, collection] = []] = Object.entries(command)
    const statement = `${name} ${collection} (${command.comment ?? 'undeclared'})`
    this.#broadcasts.set(statement, (this.#broadcasts.get(statement) ?? 0) + 1)
    if (!String(command.comment).startsWith('scattered: '))
      throw new Refusal(codes.shardKeyNotFound, `${statement} has no shard key: ${JSON.stringify(command)}`)
  }
}

const changing = new Set(['createIndexes', 'dropIndexes', 'drop', 'collMod'])

const hello = {
  ...{ helloOk: true, ismaster: true, isWritablePrimary: true, msg: 'isdbgrid', readOnly: false },
  ...{ maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000 },
  ...{ logicalSessionTimeoutMinutes: 30, minWireVersion: 0, maxWireVersion: 17 },
  ok: 1,
} as const
