import { Binary, type Collection, type Db, MongoServerError } from 'mongodb'
import { StoreUnavailable } from '../ports.ts'
import { afterPrefix } from '../record-keys.ts'
import type { BlobVectors, NearestQuery, StoredVector, VectorSpace, VectorStore } from '../search/vector-port.ts'
import { guarded, isUnavailable } from './errors.ts'
import { whilePreparing } from './schema.ts'
import { scattered } from './sharding.ts'

/** A document of the collection `vectors`. The vector is in the field `v<dimensions>`, since an index has one length. */
interface VectorDocument {
  /** `<project>:<hash of the blob>:<n>`: it sorts with the blob. */
  readonly _id: string
  readonly project: string
  readonly space: string
  readonly group: string
  readonly id: string
  readonly dimensions: number
  readonly [vector: `v${number}`]: Binary
}

const collectionName = 'vectors'
/** Longest vector that an index takes. */
const maxDimensions = 8_192
/** Candidates considered for each requested vector; the manual recommends at least 20, and 10,000 is the maximum. */
const candidatesEach = 20
const maxCandidates = 10_000
/** Validity in ms of the knowledge that an index is ready, and that it is not ready yet. */
const readyForMs = 30_000
const notReadyForMs = 2_000
/** Server codes of a collection, and of an index, that exists already. */
const namespaceExists = 48
const indexExists = 68
/** Server code of a search process that does not answer, as it starts or restarts. */
const searchAway = 125
/** Time limit of a search in ms, since a request waits for it. Below the socket's, after which the driver repeats it. */
const searchMs = 2_000

const fieldOf = (dimensions: number): `v${number}` => `v${dimensions}`
const indexOf = (dimensions: number): string => `vectors_${dimensions}`
const largest = 127

/** Returns the vector with one byte per dimension. */
const bytesOf = (vector: Float32Array): Int8Array => {
  const max = vector.reduce((found, value) => Math.max(found, Math.abs(value)), 0)
  return Int8Array.from(vector, (value) => Math.round((value / (max || 1)) * largest))
}

/** The vectors of MongoDB deployments with vector search: Atlas, or a server with its own search process. */
export class MongoVectors implements VectorStore {
  readonly min: number
  readonly #vectors: Collection<VectorDocument>
  /** When it was last known, in ms of `performance.now`, whether the index for a length is ready. */
  readonly #ready = new Map<number, { readonly isReady: boolean; readonly at: number }>()
  /** Lengths for which this process has tried to create the index with the first vectors. */
  readonly #tried = new Set<number>()

  private constructor(vectors: Collection<VectorDocument>, min: number) {
    this.#vectors = vectors
    this.min = min
  }

  /** Opens the vectors of a database; null for a deployment without vector search. @throws {StoreUnavailable} */
  static async open(db: Db, min: number): Promise<MongoVectors | null> {
    const vectors = db.collection<VectorDocument>(collectionName, { writeConcern: { w: 'majority', j: true } })
    try {
      await guarded(vectors.aggregate([{ $listSearchIndexes: {} }], whilePreparing).toArray())
    } catch (error) {
      if (!(error instanceof MongoServerError)) throw error
      // a server without search refuses the stage, with a code that depends on its version
      if (error.code !== searchAway) return null
    }
    await guarded(db.createCollection(collectionName, whilePreparing)).catch(unless(namespaceExists))
    await guarded(vectors.createIndex({ project: 1, space: 1, group: 1, id: 1, dimensions: 1 }, whilePreparing))
    await guarded(vectors.createIndex({ project: 1, space: 1, id: 1 }, whilePreparing))
    await guarded(vectors.createIndex({ group: 1 }, whilePreparing))
    return new MongoVectors(vectors, min)
  }

  async put({ project, blob, space, group, vectors }: BlobVectors): Promise<void> {
    const dimensions = vectors[0]?.numbers.length ?? 0
    if (dimensions === 0 || dimensions > maxDimensions) return
    const writes = vectors.map(({ id, numbers }, n) => {
      // a vector of zeros has no direction: the index refuses it, but it counts as stored
      const vector = numbers.some((number) => number !== 0)
        ? { [fieldOf(dimensions)]: Binary.fromInt8Array(numbers) }
        : {}
      const replacement = { project, space, group, id, dimensions, ...vector }
      return { replaceOne: { filter: { _id: `${project}:${blob}:${n}`, project }, replacement, upsert: true } }
    })
    await guarded(this.#vectors.bulkWrite(writes, { ordered: false }))
    if (this.#tried.has(dimensions)) return
    // once: vectors are stored without it too, and `isReady` creates it as soon as that is possible
    this.#tried.add(dimensions)
    await this.#create(dimensions)
  }

  count(project: string, blob: string): Promise<number> {
    return guarded(this.#vectors.countDocuments({ project, _id: rangeOf(`${project}:${blob}:`) }))
  }

  async space(project: string, space: string): Promise<VectorSpace> {
    const group = { _id: { group: '$group', dimensions: '$dimensions' }, count: { $sum: 1 } }
    const rows = await guarded(
      this.#vectors
        .aggregate<{ readonly _id: { readonly group: string; readonly dimensions: number }; readonly count: number }>([
          { $match: { project, space } },
          { $group: group },
        ])
        .toArray(),
    )
    return {
      counts: new Map(rows.map(({ _id, count }) => [_id.group, count])),
      dimensions: rows[0]?._id.dimensions ?? null,
    }
  }

  async isReady(dimensions: number): Promise<boolean> {
    const known = this.#ready.get(dimensions)
    const validMs = known?.isReady ? readyForMs : notReadyForMs
    if (known !== undefined && performance.now() - known.at < validMs) return known.isReady
    const [index] = await searching(this.#vectors.listSearchIndexes(indexOf(dimensions)).toArray())
    // an operator may have dropped it, or restored the collection without it
    if (index === undefined) await this.#create(dimensions).catch(unlessRefused)
    const isReady = index !== undefined && 'queryable' in index && index.queryable === true
    this.#ready.set(dimensions, { isReady, at: performance.now() })
    return isReady
  }

  async nearest({ project, space, groups, vector, limit }: NearestQuery): Promise<readonly StoredVector[]> {
    const path = fieldOf(vector.length)
    const scope = [{ project: { $eq: project } }, { space: { $eq: space } }]
    const search = {
      ...{ index: indexOf(vector.length), path, limit },
      queryVector: Binary.fromInt8Array(bytesOf(vector)),
      numCandidates: Math.min(maxCandidates, limit * candidatesEach),
      filter: { $and: groups === null ? scope : [...scope, { group: { $in: groups } }] },
    }
    const stages = [{ $vectorSearch: search }, { $project: { _id: 0, id: 1, dimensions: 1, [path]: 1 } }]
    try {
      const found = await guarded(this.#vectors.aggregate<VectorDocument>(stages, { maxTimeMS: searchMs }).toArray())
      // so does an index that was dropped
      if (found.length === 0) this.#ready.delete(vector.length)
      return vectorsIn(found)
    } catch (error) {
      if (error instanceof MongoServerError) this.#ready.delete(vector.length)
      throw error
    }
  }

  async get(project: string, space: string, ids: readonly string[]): Promise<readonly StoredVector[]> {
    if (ids.length === 0) return []
    return vectorsIn(await guarded(this.#vectors.find({ project, space, id: { $in: [...ids] } }).toArray()))
  }

  async removeGroups(groups: readonly string[]): Promise<void> {
    if (groups.length > 0)
      await guarded(this.#vectors.deleteMany({ group: { $in: [...groups] } }, scattered('deletion')))
  }

  async removeProject(project: string): Promise<void> {
    await guarded(this.#vectors.deleteMany({ project }))
  }

  async #create(dimensions: number): Promise<void> {
    const vector = { type: 'vector', path: fieldOf(dimensions), numDimensions: dimensions, similarity: 'cosine' }
    const filters = ['project', 'space', 'group'].map((path) => ({ type: 'filter', path }))
    const name = indexOf(dimensions)
    const existing = await searching(this.#vectors.listSearchIndexes(name).toArray())
    if (existing.length > 0) return
    const index = { name, type: 'vectorSearch', definition: { fields: [vector, ...filters] } }
    await searching(this.#vectors.createSearchIndex(index)).catch(unless(indexExists))
  }
}

/**
 * Removes the vectors of blobs whose key starts with `start`, also in a deployment that has lost its vector search.
 *
 * @throws {StoreUnavailable}
 */
export const removeVectors = async (db: Db, project: string, start: string): Promise<void> => {
  const vectors = db.collection<VectorDocument>(collectionName, { writeConcern: { w: 'majority', j: true } })
  await guarded(vectors.deleteMany({ project, _id: rangeOf(start) }))
}

const rangeOf = (start: string) => ({ $gte: start, $lt: afterPrefix(start) })

const vectorsIn = (documents: readonly VectorDocument[]): readonly StoredVector[] =>
  documents.flatMap((document) => {
    const vector = document[fieldOf(document.dimensions)]
    return vector === undefined ? [] : [{ id: document.id, numbers: vector.toInt8Array() }]
  })

/** Like `guarded`, for commands that the server passes on to its search process. */
const searching = async <T>(operation: Promise<T>): Promise<T> => {
  try {
    return await guarded(operation)
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.code !== searchAway) throw error
    throw new StoreUnavailable('the search process of mongodb does not answer', { cause: error })
  }
}

/** Ignores the refusal of a command, for instance without the right to it. */
const unlessRefused = (error: unknown): void => {
  if (!(error instanceof MongoServerError)) throw error
}

const unless =
  (code: number) =>
  (error: unknown): void => {
    if (isUnavailable(error) || !(error instanceof MongoServerError) || error.code !== code) throw error
  }
