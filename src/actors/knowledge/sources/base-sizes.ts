import { RecheckCache } from '#records/recheck-cache.ts'
import { projectScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import { sourcesOf } from './source-rows.ts'

/** Age in ms after which the total of a base is counted again. */
const recountMs = 60_000
const maxCached = 10_000

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

  /** Returns the approximate number of chunks of a base. @throws {StoreUnavailable} */
  async of(project: string, base: string): Promise<number> {
    const key = `${project}/${base}`
    return (this.#totals.peek(key) ?? (await this.#totals.load(key)))?.total ?? 0
  }

  /** Adjusts the number of chunks of a base after a change of one of its sources; `chunks` may be negative. */
  add(project: string, base: string, chunks: number): void {
    const known = this.#totals.peek(`${project}/${base}`)
    if (known) known.total += chunks
  }
}
