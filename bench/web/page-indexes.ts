import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PageIndex } from '#retrieval/index.ts'
import { systemClock } from '#runtime/clock.ts'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { webKinds } from '#src/actors/web/kinds.ts'
import { PageIndexes } from '#src/actors/web/search/page-indexes.ts'
import { findableRow } from '#src/actors/web/store/findable-row.ts'
import { PageStore } from '#src/actors/web/store/page-store.ts'
import type { SearchStore } from '#storage/index.ts'
import { lanceOf } from '#storage/lance/lance-package.ts'
import { withLance } from '#storage/lance/open-lance.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { sized } from '../extent.ts'
import { median, type Row } from '../row.ts'
import { madePage, urlOf, word } from './made-pages.ts'
import { benchPlacedIndexes } from './placed-indexes.ts'

const project = 'prj_a'
const batch = 100
/** Time in ms after which an index shows what another process changed. */
const recheckMs = 1_000
/** The wall time and CPU of work in ms, and the longest time that it held the event loop. */
const measured = async <T>(work: () => Promise<T>) => {
  let [held, last] = [0, performance.now()]
  const timer = setInterval(() => {
    held = Math.max(held, performance.now() - last - 1)
    last = performance.now()
  }, 1)
  const [from, before] = [performance.now(), process.cpuUsage()]
  const value = await work()
  const { user, system } = process.cpuUsage(before)
  const ms = performance.now() - from
  held = Math.max(held, performance.now() - last - 1)
  clearInterval(timer)
  return { value, ms, held, cpu: (user + system) / 1_000 }
}

const query = () => ({
  ...{ text: `${word()} ${word()} ${word()}`, vector: null, embedder: null, limit: 10, accepts: null, diverse: true },
  now: Date.now(),
})

/** A store with a project's pages, and what is written to its blobs. */
const filled = async (folder: string, count: number) => {
  const require = await npmPackages('lancedb')
  const packages = lanceOf(require)
  const { records, blobs, close, search } = await withLance(
    openSqliteStorage({ path: join(folder, 'pages.db') }),
    { uri: join(folder, 'tables'), min: 1 },
    packages,
  )
  await records.prepare(webKinds)
  const counted = { ...blobs, written: 0 }
  counted.put = (of, name, content) => {
    counted.written += content.length
    return blobs.put(of, name, content)
  }
  const processOn = () => new PageStore(records, counted, { now: Date.now })
  const store = processOn()
  for (let n = 0; n < count; n++) {
    await store.save(project, urlOf(n), madePage(n, count))
    if ((n + 1) % batch === 0) await store.changed(project)
  }
  await store.changed(project)
  return { store, processOn, counted, close, search }
}

const rebuilt = async (store: PageStore) => {
  const index = new PageIndex()
  for await (const row of store.all(project)) index.add(findableRow(row))
  await index.search(query())
}

/**
 * Compares an index of a project's pages that is made from all pages, as each process once did at its first search, with
 * one that is read from segments in the store. On SQLite, in one process.
 */
export async function benchIndexes(): Promise<readonly Row[]> {
  const count = sized(20_000, 200)
  const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-indexes-'))
  const { store, processOn, counted, close, search: engine } = await filled(folder, count)
  const first = async () => {
    const indexes = new PageIndexes({ store: processOn(), clock: systemClock })
    await (await indexes.of(project)).search(query())
    return indexes
  }
  // the code of a first search is compiled before: a start has it in the bundle's cache
  const indexes = await first()
  const loads = [await measured(first), await measured(first), await measured(first)]
  const before = await measured(() => rebuilt(store))
  const index = await indexes.of(project)
  const later: number[] = []
  for (let n = 0; n < 50; n++) later.push((await measured(() => index.search(query()))).cpu)
  const beside = await benchEngine({ engine, store, processOn, index })
  counted.written = 0
  const change = await measured(async () => {
    await store.save(project, urlOf(0), madePage(count, count))
    await store.changed(project)
    await new Promise((resolve) => setTimeout(resolve, recheckMs))
    await indexes.of(project)
  })
  await close()
  rmSync(folder, { recursive: true, force: true })
  const of = `${count.toLocaleString('en')} pages`
  const row = (measure: string, unit: string, ours: number, value?: number): Row => ({
    ...{ measure: `${measure}, ${of}`, unit, ours },
    ...(value !== undefined && { against: { name: 'from all pages', value } }),
  })
  const engineRow = (measure: string, ours: number, value: number): Row => ({
    ...{ measure: `LanceDB: ${measure}, ${of}`, unit: 'ms', ours, against: { name: 'in memory', value } },
  })
  const middle = (what: 'ms' | 'cpu' | 'held') => median(loads.map((load) => load[what]))
  return [
    { ...row('first search after a start: CPU', 'ms', middle('cpu'), before.cpu), bound: { of: 'ratio', atMost: 0.1 } },
    row('first search after a start', 'ms', middle('ms'), before.ms),
    row('event loop held by it', 'ms', middle('held'), before.held),
    row('memory of the index', 'MB', index.bytes / 1e6),
    row('later search: CPU', 'ms', median(later)),
    row('one page changed and found: CPU', 'ms', change.cpu, before.cpu),
    row('bytes of segments written for it', 'KB', counted.written / 1_000),
    row('LanceDB: made from the segments', 's', beside.made.ms / 1_000),
    row('LanceDB: made from the segments: CPU', 's', beside.made.cpu / 1_000),
    engineRow('first search after a start', middleOf(beside.loads, 'ms'), middle('ms')),
    engineRow('first search after a start: CPU', middleOf(beside.loads, 'cpu'), middle('cpu')),
    engineRow('later search', middleOf(beside.later, 'ms'), middleOf(beside.inMemory, 'ms')),
    engineRow('later search: CPU', middleOf(beside.later, 'cpu'), middleOf(beside.inMemory, 'cpu')),
    row('LanceDB: share of the first ten in memory that are among its first ten', '', beside.common),
    row('LanceDB: same first hit', '', beside.first),
    row('LanceDB: one page changed and found: CPU', 'ms', beside.change.cpu, change.cpu),
    ...(await benchPlacedIndexes()),
  ]
}

type Measured = Awaited<ReturnType<typeof measured>>
const middleOf = (all: readonly Measured[], what: 'ms' | 'cpu') => median(all.map((each) => each[what]))

interface EngineBench {
  readonly engine: SearchStore | undefined
  readonly store: PageStore
  readonly processOn: () => PageStore
  /** The index in memory. */
  readonly index: PageIndex
}

/** Measures the same pages in LanceDB, beside the index in memory. */
const benchEngine = async ({ engine, store, processOn, index }: EngineBench) => {
  if (engine === undefined) throw new Error('no engine')
  // waits for what a crawl lets go on after ten seconds
  const writer = new PageIndexes({ store, clock: { ...systemClock, after: () => () => {} }, engine })
  const made = await measured(() => writer.changed(project))
  const first = async () => {
    const indexes = new PageIndexes({ store: processOn(), clock: systemClock, engine })
    await indexes.search(project, { ...query(), filter: null })
    return indexes
  }
  const indexes = await first()
  const loads = [await measured(first), await measured(first), await measured(first)]
  const [later, inMemory]: [Measured[], Measured[]] = [[], []]
  let [common, same] = [0, 0]
  const searches = 50
  for (let n = 0; n < searches; n++) {
    const pageQuery = query()
    const ours = await measured(() => index.search(pageQuery))
    const theirs = await measured(() => indexes.search(project, { ...pageQuery, filter: null }))
    inMemory.push(ours)
    later.push(theirs)
    const wanted = new Set(ours.value.map(({ page }) => page.id))
    common += theirs.value.filter(({ page }) => wanted.has(page.id)).length / Math.max(1, wanted.size)
    same += Number(theirs.value[0]?.page.id === ours.value[0]?.page.id)
  }
  const change = await measured(async () => {
    await store.save(project, urlOf(1), madePage(1, 100))
    await writer.changed(project)
  })
  return { made, loads, later, inMemory, change, common: common / searches, first: same / searches }
}
