import type { Document } from 'mongodb'
import { codes, Refusal, type Route } from './routing.ts'

/** Reads all documents that a command returns on a shard. */
export type ReadAll = (shard: number, command: Document) => Promise<Document[]>

const sortField = 'troupe_sort_key'

/** Executes a `find` on its shards, and merges the documents in its order. */
export const findMerged = async (command: Document, { shards }: Route, read: ReadAll): Promise<Document[]> => {
  const [only] = shards
  if (only !== undefined && shards.length === 1) return read(only, command)
  const { skip, sort, ...rest } = command
  const first = Number(skip ?? 0)
  const limit = Number(command.limit ?? 0)
  const isSorted = sort !== undefined && Object.keys(sort).length > 0
  const own = {
    ...rest,
    ...(limit > 0 && { limit: limit + first }),
    ...(isSorted && { sort, projection: { ...command.projection, [sortField]: { $meta: 'sortKey' } } }),
  }
  const found = (await Promise.all(shards.map((shard) => read(shard, own)))).flat()
  if (isSorted) {
    const directions = Object.values(sort).map(Number)
    found.sort((a, b) => comparedKeys(a[sortField], b[sortField], directions))
  }
  return found.slice(first, limit > 0 ? first + limit : undefined).map(({ [sortField]: _key, ...document }) => document)
}

/**
 * Executes an aggregation on its shards. Over several it knows counts, statistics of indexes, and one document of
 * constants, which is the same from every shard.
 *
 * @throws {Refusal} for others, which a mongos could merge.
 */
export const aggregateMerged = async (command: Document, { shards }: Route, read: ReadAll): Promise<Document[]> => {
  const found = (await Promise.all(shards.map((shard) => read(shard, command)))).flat()
  const pipeline: readonly Document[] = command.pipeline
  if (shards.length === 1 || pipeline[0]?.$indexStats !== undefined) return found
  if (yieldsConstants(pipeline)) return [...new Map(found.map((each) => [JSON.stringify(each), each])).values()]
  const { _id, n } = pipeline.at(-1)?.$group ?? {}
  if (Number(_id) !== 1 || n?.$sum === undefined || pipeline.some(({ $skip }) => $skip !== undefined)) {
    throw new Refusal(codes.commandNotFound, `the proxy cannot merge the aggregation ${JSON.stringify(pipeline)}`)
  }
  const limit = Number(pipeline.find(({ $limit }) => $limit !== undefined)?.$limit ?? Number.POSITIVE_INFINITY)
  const sum = found.reduce((total, each) => total + Number(each.n), 0)
  return found.length === 0 ? [] : [{ _id: 1, n: Math.min(limit, sum) }]
}

const yieldsConstants = (pipeline: readonly Document[]): boolean =>
  pipeline.every(({ $match, $limit, $project }) => {
    const fields = Object.values($project ?? {})
    return (
      $match !== undefined ||
      Number($limit) === 1 ||
      ($project !== undefined && fields.every((each) => Number(each) === 0 || Object(each).$literal !== undefined))
    )
  })

/** Compares sort keys in the order of BSON, as far as the store sorts: missing values, numbers, then texts by bytes. */
const comparedKeys = (a: readonly unknown[], b: readonly unknown[], directions: readonly number[]): number => {
  for (const [at, direction] of directions.entries()) {
    const order = compared(a[at], b[at])
    if (order !== 0) return order * direction
  }
  return 0
}

const compared = (a: unknown, b: unknown): number => {
  const [left, right] = [rankOf(a), rankOf(b)]
  if (left !== right) return left - right
  if (left === 2) return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
  return left === 1 ? Number(a) - Number(b) : 0
}

const rankOf = (value: unknown): number =>
  value === null || value === undefined ? 0 : typeof value === 'string' ? 2 : 1

/** Open cursors over documents that the proxy has merged. */
export class Cursors {
  readonly #open = new Map<number, { readonly namespace: string; left: Document[] }>()
  #last = 0

  /** The answer to a read: its first documents, and a cursor for the rest. */
  first(namespace: string, documents: Document[], { size, single }: { size: number; single: boolean }): Document {
    const firstBatch = documents.slice(0, size)
    const left = single ? [] : documents.slice(size)
    const id = left.length === 0 ? 0 : ++this.#last
    if (id !== 0) this.#open.set(id, { namespace, left })
    return { cursor: { firstBatch, id: idOf(id), ns: namespace }, ok: 1 }
  }

  /** The answer to `getMore`. */
  next(id: number, size: number): Document {
    const cursor = this.#open.get(id)
    if (cursor === undefined) throw new Refusal(codes.cursorNotFound, `there is no cursor ${id}`)
    const nextBatch = cursor.left.splice(0, size)
    if (cursor.left.length === 0) this.#open.delete(id)
    return { cursor: { nextBatch, id: idOf(cursor.left.length === 0 ? 0 : id), ns: cursor.namespace }, ok: 1 }
  }

  close(ids: readonly unknown[]): Document {
    for (const id of ids) this.#open.delete(Number(id))
    return { cursorsKilled: ids, cursorsNotFound: [], cursorsAlive: [], cursorsUnknown: [], ok: 1 }
  }
}

const idOf = (id: number): bigint => BigInt(id)
