import { connect, createServer, type Server, type Socket } from 'node:net'
import { Binary, BSON, type Document, MongoClient } from 'mongodb'
import { OpMessages, replyTo } from './op-messages.ts'

interface VectorField {
  readonly path: string
  readonly numDimensions: number
}

interface SearchIndex {
  readonly name: string
  readonly definition: Document
  readonly vectors: readonly VectorField[]
  readonly filters: readonly string[]
  isQueryable: boolean
}

/** A failure that the server reports for a command. */
class CommandError extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const maxCandidates = 10_000

/**
 * A MongoDB deployment with vector search: a server between clients and a mongod without one. It answers
 * `createSearchIndexes`, `$listSearchIndexes` and `$vectorSearch` by the protocol of drivers and the rules of MongoDB's
 * manual, from the documents of the mongod, and passes all other commands on.
 */
export class VectorSearchDeployment {
  /** `$vectorSearch` stages in the order received. */
  readonly searches: Document[] = []
  /** Whether new indexes can be queried at once. */
  buildsAtOnce = true
  /** Message of the failure of every search; null for none. */
  failure: string | null = null
  /** Whether the search process is down: mongod itself answers. */
  isSearchAway = false
  /** Whether the user may not create search indexes. */
  refusesIndexes = false
  /** Whether searches take longer than any limit. */
  isSlow = false
  readonly #indexes = new Map<string, SearchIndex[]>()
  readonly #sockets = new Set<Socket>()
  readonly #mongod: MongoClient
  readonly #upstream: URL
  #server: Server | null = null

  private constructor(mongodUrl: string) {
    this.#upstream = new URL(mongodUrl)
    this.#mongod = new MongoClient(mongodUrl)
  }

  /** @param mongodUrl a standalone mongod. */
  static async open(mongodUrl: string): Promise<VectorSearchDeployment> {
    const deployment = new VectorSearchDeployment(mongodUrl)
    await deployment.#mongod.connect()
    const server = createServer((socket) => deployment.#serve(socket))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    deployment.#server = server
    return deployment
  }

  /** Without a database. */
  get url(): string {
    const address = this.#server?.address()
    return `mongodb://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`
  }

  /** Names of the search indexes of a database's collections. */
  indexesOf(database: string): readonly string[] {
    return [...this.#indexes].flatMap(([name, all]) => (name.startsWith(`${database}.`) ? all.map((i) => i.name) : []))
  }

  /** Ends the building of all indexes, or starts it again. */
  build(isQueryable: boolean): void {
    this.buildsAtOnce = isQueryable
    for (const index of [...this.#indexes.values()].flat()) index.isQueryable = isQueryable
  }

  dropIndexes(): void {
    this.#indexes.clear()
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server?.close(resolve))
    await this.#mongod.close()
  }

  #serve(client: Socket): void {
    const mongod = connect(Number(this.#upstream.port), this.#upstream.hostname)
    for (const socket of [client, mongod]) {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#sockets.delete(socket)
        client.destroy()
        mongod.destroy()
      })
    }
    mongod.on('data', (bytes) => client.write(bytes))
    const messages = new OpMessages()
    client.on('data', (bytes) => {
      for (const { whole, requestId, command } of messages.take(bytes)) {
        const own = command === null ? null : this.#ownAnswer(command)
        if (own === null) mongod.write(whole)
        else void own.then((answer) => client.write(replyTo(requestId, answer)))
      }
    })
  }

  /** Returns the answer to a command about search; null for any other command. */
  #ownAnswer(command: Document): Promise<Document> | null {
    const [name = ''] = Object.keys(command)
    const [first = {}] = Array.isArray(command.pipeline) ? command.pipeline : []
    const place = `${command.$db}.${command[name]}`
    const cursor = (firstBatch: readonly Document[]) => ({
      cursor: { id: BSON.Long.ZERO, ns: place, firstBatch },
      ok: 1,
    })
    const answering = (answer: () => Promise<Document>) =>
      answer().catch((error: unknown) => {
        const code = error instanceof CommandError ? error.code : 8
        return { ok: 0, code, codeName: 'UnknownError', errmsg: String(error) }
      })
    if (name === 'createSearchIndexes') return answering(async () => this.#managed(() => this.#create(place, command)))
    if (name !== 'aggregate') return null
    if ('$listSearchIndexes' in first) {
      const list = async () => cursor(this.#list(place, first.$listSearchIndexes))
      return answering(() => this.#managed(list))
    }
    if ('$vectorSearch' in first) return answering(async () => cursor(await this.#search(place, command)))
    return null
  }

  /** As mongod does, whose code for this says that the command is not to be repeated. */
  async #managed(answer: () => Promise<Document>): Promise<Document> {
    if (this.isSearchAway) throw new CommandError(125, 'Error connecting to Search Index Management service.')
    return answer()
  }

  async #create(place: string, { $db, createSearchIndexes: name, indexes }: Document): Promise<Document> {
    if (this.refusesIndexes) throw new CommandError(13, `Not authorized to call createSearchIndexes on ${place}`)
    const found = await this.#mongod.db($db).listCollections({ name }).toArray()
    if (found.length === 0) throw new CommandError(26, `collection ${place} does not exist`)
    const existing = this.#indexes.get(place) ?? []
    for (const { name: index, type, definition } of indexes) {
      if (existing.some((each) => each.name === index)) throw new CommandError(68, `index ${index} already exists`)
      if (type !== 'vectorSearch') throw new CommandError(8, `a search index of type ${type}`)
      existing.push({ name: index, definition, ...fieldsOf(definition), isQueryable: this.buildsAtOnce })
    }
    this.#indexes.set(place, existing)
    return { ok: 1, indexesCreated: indexes.map((index: Document) => ({ id: index.name, name: index.name })) }
  }

  #list(place: string, { name }: Document): readonly Document[] {
    return (this.#indexes.get(place) ?? [])
      .filter((index) => name === undefined || index.name === name)
      .map((index) => ({
        ...{ id: index.name, name: index.name, type: 'vectorSearch', queryable: index.isQueryable },
        ...{ status: index.isQueryable ? 'READY' : 'BUILDING', latestDefinition: index.definition },
      }))
  }

  async #search(place: string, { $db, aggregate, pipeline, maxTimeMS }: Document): Promise<readonly Document[]> {
    const [{ $vectorSearch: stage }, ...rest] = pipeline
    this.searches.push(stage)
    if (this.isSlow && maxTimeMS !== undefined) throw new CommandError(50, 'operation exceeded time limit')
    if (this.isSlow) return new Promise(() => {})
    if (this.isSearchAway) throw new CommandError(6, 'Error connecting to the search process: Connection refused')
    if (this.failure !== null) throw new CommandError(8, this.failure)
    const index = (this.#indexes.get(place) ?? []).find(({ name }) => name === stage.index)
    // as documented: a search in an index that does not exist finds nothing
    if (index === undefined) return []
    if (!index.isQueryable) throw new CommandError(8, 'cannot query search index while in state INITIAL_SYNC')
    const query = checked(stage, index)
    const collection = this.#mongod.db($db).collection(aggregate)
    const documents = await collection
      .find({ $and: [stage.filter ?? {}, { [stage.path]: { $exists: true } }] })
      .toArray()
    const near = documents
      .map((document) => ({ document, score: cosine(query, document[stage.path].toInt8Array()) }))
      .toSorted((a, b) => b.score - a.score)
      .slice(0, stage.limit)
      .map(({ document }) => document)
    if (near.length === 0) return []
    return this.#mongod
      .db($db)
      .aggregate([{ $documents: near }, ...rest])
      .toArray()
  }
}

const fieldsOf = ({ fields }: Document): Pick<SearchIndex, 'vectors' | 'filters'> => {
  const vectors = fields.filter(({ type }: Document) => type === 'vector')
  const isSupported = ({ numDimensions, similarity }: Document) =>
    Number.isInteger(numDimensions) && numDimensions >= 1 && numDimensions <= 8192 && similarity === 'cosine'
  if (vectors.length === 0 || !vectors.every(isSupported)) throw new CommandError(8, 'invalid index definition')
  return {
    vectors,
    filters: fields.filter(({ type }: Document) => type === 'filter').map(({ path }: Document) => path),
  }
}

/** Returns the numbers of the query's vector. @throws {CommandError} */
const checked = (stage: Document, { vectors, filters }: SearchIndex): Int8Array => {
  const { path, queryVector, limit, numCandidates, filter = {} } = stage
  const refuse = (message: string): never => {
    throw new CommandError(8, message)
  }
  const field = vectors.find((each) => each.path === path) ?? refuse(`${path} is not indexed as a vector`)
  if (!Number.isInteger(limit) || limit < 1) refuse('"limit" must be a positive integer')
  if (!Number.isInteger(numCandidates) || numCandidates < limit || numCandidates > maxCandidates)
    refuse('"numCandidates" must be at least "limit" and at most 10000')
  for (const used of fieldsIn(filter)) if (!filters.includes(used)) refuse(`${used} is not indexed as a filter`)
  if (!(queryVector instanceof Binary) || queryVector.sub_type !== Binary.SUBTYPE_VECTOR)
    refuse('"queryVector" must have the type of the indexed vectors')
  const numbers = queryVector.toInt8Array()
  if (numbers.length !== field.numDimensions) refuse(`vector field is indexed with ${field.numDimensions} dimensions`)
  return numbers
}

const fieldsIn = (filter: Document): readonly string[] =>
  Object.entries(filter).flatMap(([key, value]) => (key === '$and' ? value.flatMap(fieldsIn) : [key]))

const cosine = (a: Int8Array, b: Int8Array): number => {
  let [dot, lengthA, lengthB] = [0, 0, 0]
  for (const [at, number] of a.entries()) {
    const other = b[at] ?? 0
    dot += number * other
    lengthA += number ** 2
    lengthB += other ** 2
  }
  return dot / Math.sqrt(lengthA * lengthB)
}
