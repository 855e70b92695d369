import type { RecordStore } from '#storage/index.ts'

/** A limit on the stored rows of one owner. */
export interface CountedLimit {
  readonly max: number
  /** Number of rows to be created; 1 by default. */
  readonly more?: number
  /** The writer of list rows, when `count` reads such rows: they are written a moment after their commit. */
  readonly rows?: { shown(): Promise<void> }
  /** Counts the stored rows of the owner. */
  readonly count: () => Promise<number>
  /** Returns the error when the limit is reached. */
  readonly full: (stored: number) => Error
}

/** A creation that has not ended. */
interface Creation {
  readonly more: number
  /** Resolves when the creation has been admitted or refused. */
  readonly decided: PromiseWithResolvers<void>
  /** Resolves when the creation has ended, successfully or not. */
  readonly ended: PromiseWithResolvers<void>
  isDecided: boolean
}

const all = new WeakMap<RecordStore, CountedLimits>()

/**
 * Enforces limits that are counted in the store for creations of this process that run at the same time: each one
 * counts the creations before it that have not ended. While all of them fit they run concurrently; the last places are
 * given one after another. Other processes are not counted until their rows are stored
 * (specs/decisions/0096-nothing-grows-without-bound.md).
 */
export class CountedLimits {
  readonly #creations = new Map<string, Creation[]>()

  /** Returns the instance for a store. */
  static at(records: RecordStore): CountedLimits {
    const known = all.get(records) ?? new CountedLimits()
    all.set(records, known)
    return known
  }

  /** Runs `create` if the limit of the owner `key` permits it. @throws the error of `limit.full` */
  async within<T>(key: string, limit: CountedLimit, create: () => Promise<T>): Promise<T> {
    const creations = this.#creations.get(key) ?? []
    this.#creations.set(key, creations)
    const own: Creation = {
      more: limit.more ?? 1,
      decided: Promise.withResolvers(),
      ended: Promise.withResolvers(),
      isDecided: false,
    }
    creations.push(own)
    try {
      await admitted(creations, own, limit).finally(() => decide(own))
      return await create()
    } finally {
      creations.splice(creations.indexOf(own), 1)
      if (creations.length === 0) this.#creations.delete(key)
      own.ended.resolve()
    }
  }

  /** As `within`, but returns `full` when the limit is reached. */
  async orFull<T>(key: string, limit: Omit<CountedLimit, 'full'>, create: () => Promise<T>): Promise<T | 'full'> {
    const full = new Error('The limit is reached.')
    try {
      return await this.within(key, { ...limit, full: () => full }, create)
    } catch (error) {
      if (error === full) return 'full'
      throw error
    }
  }
}

const decide = (creation: Creation): void => {
  creation.isDecided = true
  creation.decided.resolve()
}

/**
 * Resolves when the creation fits. Only the first of those that wait counts again whenever an earlier creation ends, so
 * that the number of counts does not grow with the square of the requests.
 */
const admitted = async (creations: readonly Creation[], own: Creation, limit: CountedLimit): Promise<void> => {
  for (;;) {
    // listed before the count: a creation that ends meanwhile may be counted twice, and is never missed
    const before = creations.slice(0, creations.indexOf(own))
    await limit.rows?.shown()
    const stored = await limit.count()
    if (stored + own.more > limit.max) throw limit.full(stored)
    const pending = before.reduce((sum, { more }) => sum + more, 0)
    if (stored + pending + own.more <= limit.max) return
    const waiting = before.findLast(({ isDecided }) => !isDecided)
    await (waiting === undefined ? before[0]?.ended.promise : waiting.decided.promise)
  }
}
