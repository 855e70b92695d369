import { RecheckCache } from '#records/recheck-cache.ts'
import { projectScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import { sourcesOf } from './source-rows.ts'

/** The total of a base is counted anew after this time, in ms. */
const recountMs = 60_000
const maxCached = 10_000

/** Chunks of each base, counted now and then: a bound, not an account. */
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

  /** @throws {StoreUnavailable} */
  async of(project: string, base: string): Promise<number> {
    const key = `${project}/${base}`
    return (this.#totals.peek(key) ?? (await this.#totals.load(key)))?.total ?? 0
  }

  /** A source of the base has so many chunks more, or fewer. */
  add(project: string, base: string, chunks: number): void {
    const known = this.#totals.peek(`${project}/${base}`)
    if (known) known.total += chunks
  }
}
