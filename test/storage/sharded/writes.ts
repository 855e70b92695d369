import type { Document } from 'mongodb'
import type { ShardKey } from '#storage/mongo/sharding.ts'
import { codes, Refusal, type Route, type Routing } from './routing.ts'

/** Sends a command to a shard. */
export type Send = (shard: number, command: Document) => Promise<Document>

/** A statement of a batch: its route, or the refusal of a mongos. */
export interface Statement {
  readonly document: Document
  readonly route: Route | Refusal
}

const listOf = { insert: 'documents', update: 'updates', delete: 'deletes' } as const

/** A command that writes a batch of statements. */
export type BatchName = keyof typeof listOf

/** The statements of a batch, in its order. */
export const statementsOf = (routing: Routing, name: BatchName, command: Document, namespace: string): Statement[] => {
  const documents: readonly Document[] = command[listOf[name]]
  return documents.map((document) => ({ document, route: refusable(() => routes[name](routing, namespace, document)) }))
}

const refusable = (route: () => Route): Route | Refusal => {
  try {
    return route()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

const routes = {
  insert: (routing: Routing, namespace: string, document: Document) => routing.ofDocument(namespace, document),
  update: (routing: Routing, namespace: string, { q, u, multi = false, upsert = false }: Document) => {
    const route = routing.of(namespace, q)
    if ((!multi || upsert) && !route.isOne) throw noKey(upsert ? 'an upsert' : 'an update of one document', namespace)
    const key = routing.keys.get(namespace)
    if (key !== undefined) requireSameKey(key, q, u)
    return route
  },
  delete: (routing: Routing, namespace: string, { q, limit }: Document) => {
    const route = routing.of(namespace, q)
    if (Number(limit) === 1 && !route.isOne) throw noKey('a removal of one document', namespace)
    return route
  },
} as const

/** Refuses a change of one document whose filter lacks the shard key. */
export const noKey = (what: string, namespace: string): Refusal =>
  new Refusal(codes.shardKeyNotFound, `${what} in ${namespace} has to name the shard key`)

/**
 * Refuses an update that may change the shard key, which takes a transaction.
 *
 * @throws {Refusal}
 */
const requireSameKey = (key: ShardKey, q: Document, u: Document | readonly Document[]): void => {
  const fields = Object.keys(key)
  const stages: readonly Document[] = Array.isArray(u) ? u : [u]
  for (const stage of stages) {
    const operators = Object.keys(stage).filter((name) => name.startsWith('$'))
    const isReplacement = operators.length === 0
    const isKept = isReplacement
      ? fields.every((field) => (field === '_id' && stage._id === undefined) || stage[field] === q[field])
      : operators.every((name) => !/^\$replace/.test(name) && !fields.some((field) => touches(stage[name], field)))
    if (!isKept) throw new Refusal(codes.immutableField, `an update may change the shard key ${fields}`)
  }
}

const touches = (change: unknown, field: string): boolean =>
  [change].flat().some((each) => each === field || (typeof each === 'object' && each !== null && field in each))

/** Executes a batch on the shards of its statements, and merges their answers. */
export const writeBatch = async (
  { name, command, statements }: { name: BatchName; command: Document; statements: readonly Statement[] },
  send: Send,
): Promise<Document> => {
  const merged = new Merged()
  const isOrdered = command.ordered !== false
  const parts = isOrdered ? statements.map((_, index) => [index]) : [statements.map((_, index) => index)]
  for (const indexes of together(parts, statements)) {
    const byShard = new Map<number, number[]>()
    for (const index of indexes) {
      const route = statements[index]?.route
      if (route instanceof Refusal) merged.refuse(index, route)
      else for (const shard of route?.shards ?? []) byShard.set(shard, [...(byShard.get(shard) ?? []), index])
    }
    await Promise.all(
      [...byShard].map(async ([shard, own]) => {
        const part = own.map((index) => statements[index]?.document)
        merged.add(own, await send(shard, { ...command, [listOf[name]]: part }))
      }),
    )
    if (isOrdered && merged.hasErrors) break
  }
  return merged.answer(name)
}

/** Joins neighbouring parts of an ordered batch that go to one and the same shard. */
const together = (parts: readonly number[][], statements: readonly Statement[]): readonly number[][] => {
  const placeOf = (index: number | undefined): string => {
    const route = index === undefined ? undefined : statements[index]?.route
    return route === undefined || route instanceof Refusal || route.shards.length > 1 ? 'own' : `${route.shards}`
  }
  const joined: number[][] = []
  for (const part of parts) {
    const last = joined.at(-1)
    const place = placeOf(part[0])
    if (last !== undefined && part.length === 1 && place !== 'own' && placeOf(last[0]) === place) last.push(...part)
    else joined.push([...part])
  }
  return joined
}

/** The answers of shards to one batch. */
class Merged {
  #n = 0
  #modified = 0
  readonly #upserted: Document[] = []
  readonly #errors: Document[] = []
  #concern: Document | undefined

  get hasErrors(): boolean {
    return this.#errors.length > 0
  }

  refuse(index: number, { code, message }: Refusal): void {
    this.#errors.push({ index, code, errmsg: message })
  }

  /** @param indexes the positions of the shard's statements in the whole batch. */
  add(indexes: readonly number[], answer: Document): void {
    this.#n += Number(answer.n ?? 0)
    this.#modified += Number(answer.nModified ?? 0)
    const placed = (each: Document): Document => ({ ...each, index: indexes[Number(each.index)] })
    this.#upserted.push(...(answer.upserted ?? []).map(placed))
    this.#errors.push(...(answer.writeErrors ?? []).map(placed))
    this.#concern ??= answer.writeConcernError
  }

  answer(name: BatchName): Document {
    const byIndex = (a: Document, b: Document): number => a.index - b.index
    return {
      n: this.#n,
      ...(name === 'update' && { nModified: this.#modified }),
      ...(this.#upserted.length > 0 && { upserted: this.#upserted.sort(byIndex) }),
      ...(this.#errors.length > 0 && { writeErrors: this.#errors.sort(byIndex) }),
      ...(this.#concern !== undefined && { writeConcernError: this.#concern }),
      ok: 1,
    }
  }
}
