import { RecheckCache } from '#records/caches/recheck-cache.ts'
import { projectScope, type RecordStore, type Scope } from '#storage/index.ts'
import { sourceRows } from '../kinds.ts'
import { sourcesOf } from '../sources/source-rows.ts'
import { type FileCounts, sourceStatusOf } from './store-views.ts'

/** Age in ms after which the bytes of a store are added up again, even if its counts are the same. */
const recountMs = 60_000
const maxCached = 10_000

/** Totals of the files of a store. */
export interface Totals {
  readonly counts: FileCounts
  readonly bytes: number
}

/** Counts files by an index, and remembers the sum of their bytes as long as the counts stay the same. */
export class StoreTotals {
  readonly #records: RecordStore
  readonly #bytes: RecheckCache<{ readonly total: number }>

  constructor(records: RecordStore, now: () => number) {
    this.#records = records
    const load = async (key: string): Promise<{ total: number }> => {
      const [project = '', base = ''] = key.split('/')
      let total = 0
      for await (const { data } of sourcesOf(records, projectScope(project), base)) total += data.size_bytes ?? 0
      return { total }
    }
    this.#bytes = new RecheckCache({ load, maxAgeMs: recountMs, maxEntries: maxCached, now })
  }

  /** @throws {StoreUnavailable} */
  async of({ project, id }: { readonly project: string; readonly id: string }): Promise<Totals> {
    const scope = projectScope(project)
    const [in_progress, completed, failed] = await Promise.all([
      this.#count(scope, id, 'in_progress'),
      this.#count(scope, id, 'completed'),
      this.#count(scope, id, 'failed'),
    ])
    const counts = { in_progress, completed, failed, cancelled: 0, total: in_progress + completed + failed }
    const key = `${project}/${id}/${in_progress}/${completed}/${failed}`
    const { total } = this.#bytes.peek(key) ?? (await this.#bytes.load(key)) ?? { total: 0 }
    return { counts, bytes: counts.total === 0 ? 0 : total }
  }

  #count(scope: Scope, base: string, status: 'in_progress' | 'completed' | 'failed'): Promise<number> {
    return this.#records.count(sourceRows, scope, { base_status: `${base} ${sourceStatusOf(status)}` })
  }
}
