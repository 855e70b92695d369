import { PageIndexes, type PageIndexesParts } from '#actors/web/search/page-indexes.ts'
import { PageStore } from '#actors/web/store/page-store.ts'
import { type Clock, systemClock } from '#runtime/index.ts'
import type { SearchStore, Storage } from '#storage/index.ts'
import { madePage, queries, urlOf } from '../store/made-pages.ts'

interface NodeOptions {
  readonly engine?: SearchStore
  readonly project?: string
  readonly after?: Clock['after']
  readonly sizes?: PageIndexesParts['sizes']
}

/** What a process that stores and searches pages of one project has. */
export const pageNode = (
  { records, blobs }: Pick<Storage, 'records' | 'blobs'>,
  { engine, project = 'prj_a', after = systemClock.after, sizes = {} }: NodeOptions = {},
) => {
  /** Time in ms by which its clocks are ahead, so that nothing has to wait. */
  const ahead = { ms: 0 }
  const clock = { now: () => Date.now() + ahead.ms, steady: () => performance.now() + ahead.ms, after }
  const warnings: unknown[] = []
  const log = { warn: (data: unknown) => warnings.push(data) }
  const counted = { candidates: 0 }
  const candidates: SearchStore['candidates'] = async (index, query) => {
    counted.candidates++
    return (await engine?.candidates(index, query)) ?? []
  }
  const store = new PageStore(records, blobs, { now: clock.now })
  const bound = engine === undefined ? undefined : boundEngine(engine, { candidates })
  const indexes = new PageIndexes({ store, clock, log, engine: bound, sizes })
  const save = async (numbers: readonly number[], version = 1) => {
    for (const n of numbers) {
      const row = await store.save(project, urlOf(n), madePage(n, version))
      if (typeof row === 'string') throw new Error(row)
      indexes.put(row)
    }
    await indexes.changed(project)
  }
  const found = async (more: Partial<Parameters<PageIndexes['search']>[1]> = {}) => {
    ahead.ms += 1_000
    const all: (readonly (readonly [url: string, score: number])[])[] = []
    for (const query of queries) {
      const hits = await indexes.search(project, { ...query, filter: null, ...more })
      all.push(hits.map(({ page, score }) => [page.url, score]))
    }
    return all
  }
  return { ahead, store, indexes, save, found, warnings, counted }
}

/** An engine some methods of which are others. */
export const boundEngine = (engine: SearchStore, others: Partial<SearchStore>): SearchStore => ({
  min: engine.min,
  candidates: (...query) => engine.candidates(...query),
  put: (...put) => engine.put(...put),
  remove: (...removed) => engine.remove(...removed),
  load: (...loaded) => engine.load(...loaded),
  erase: (...erased) => engine.erase(...erased),
  notes: (index) => engine.notes(index),
  readNotes: (...read) => engine.readNotes(...read),
  note: (...noted) => engine.note(...noted),
  hasMany: (index) => engine.hasMany(index),
  merge: (index) => engine.merge(index),
  drop: (...dropped) => engine.drop(...dropped),
  ...others,
})
