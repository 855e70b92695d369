import { RecheckCache } from '#records/caches/recheck-cache.ts'
import { projectScope, type RecordStore } from '#storage/index.ts'
import { sourcesOf } from './source-rows.ts'

/** Age in ms after which the total of a base is counted again. */
const recountMs = 60_000
const maxCached = 10_000

/** Growth of a base by one of its sources. */
interface Growth {
  readonly project: string
  readonly base: string
  readonly added: number
  readonly max: number
}

/** Number of chunks of each base. It is approximate, and good enough for a limit. */
export class BaseSizes {
  readonly #totals: RecheckCache<{ total: number }>

  constructor(records: RecordStore, now: () => number) {
    const load = async (key: string): Promise<{ total: number }> => {
      const [project = '', base = ''] = key.split('/')
      let total = 0
      for await (const { data } of sourcesOf(records, projectScope(project), base))
        total += data.document?.chunk_count ?? 0
      return { total }
    }
    this.#totals = new RecheckCache({ load, maxAgeMs: recountMs, maxEntries: maxCached, now })
  }

  /**
   * Reserves space for the chunks by which a source of a base grows; `added` may be negative.
   *
   * @returns a function that releases it; null when the base would have more than `max` chunks.
   * @throws {StoreUnavailable}
   */
  async take({ project, base, added, max }: Growth): Promise<(() => void) | null> {
    const size = await this.#of(project, base)
    if (size.total + added > max) return null
    // in the same turn as the check: sources that are read at the same time share the limit
    size.total += added
    return () => {
      size.total -= added
    }
  }

  /** Returns the number of chunks of a base. @throws {StoreUnavailable} */
  async total(project: string, base: string): Promise<number> {
    return (await this.#of(project, base)).total
  }

  async #of(project: string, base: string): Promise<{ total: number }> {
    const key = `${project}/${base}`
    return this.#totals.peek(key) ?? (await this.#totals.load(key)) ?? { total: 0 }
  }
}
