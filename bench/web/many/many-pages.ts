import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { PageSegment, packedPage, wholeSegment } from '#retrieval/index.ts'
import { segmentFormat } from '#src/actors/indexing/stored-index.ts'
import { documentOf } from '#src/actors/web/search/page-follower.ts'
import { pagesPlace } from '#src/actors/web/store/page-changes.ts'
import { sized } from '../../extent.ts'
import type { Row } from '../../row.ts'
import { dimensions, numberedPage, project, urlOf } from './numbered-page.ts'
import { lancePackages, openedPages, withoutVectorIndexes } from './opened-pages.ts'
import { Run } from './run.ts'
import { parsedTimes, type SearchTimes } from './schema.ts'

/** Pages that are stored before their segments are merged, and that are put into the engine at once. */
const [storedEach, loadedEach] = [2_000, 256]
/** Rows from which the engine makes an index of a part's vectors. */
const indexedFrom = 50_000
const place = pagesPlace(project)

/**
 * Makes a corpus of pages, and measures it in LanceDB: its searches before and after its vectors have an index, changes, a
 * takedown, and a process that starts. With a folder it works for some minutes, and the next run goes on there.
 */
export async function benchManyPages({
  rows,
  folder,
  minutes,
}: {
  readonly rows: number | null
  readonly folder: string | null
  readonly minutes: number | null
}): Promise<readonly Row[]> {
  const own = folder ?? mkdtempSync(join(tmpdir(), 'troupe-many-pages-'))
  const run = new Run(own, rows ?? sized(20_000, 300), minutes)
  try {
    for (const step of [storePages, loadPages, searchBefore, indexVectors, searchAfter, changePages, takePageDown]) {
      await step(run)
      if (!run.isLate) continue
      console.error(`stopped after ${step.name}; the next run with this folder goes on`)
      break
    }
    return rowsOf(run)
  } finally {
    if (folder === null) rmSync(own, { recursive: true, force: true })
  }
}

/** Stores pages as a crawl does, with their segments. */
const storePages = async (run: Run): Promise<void> => {
  if (run.progress.isStored) return
  const { store, close } = await openedPages(run.folder, withoutVectorIndexes(await lancePackages()), 2 * run.count)
  const meter = run.meter('stored', run.progress.pages, run.count)
  await run.timed('stored', async () => {
    for (let n = run.progress.pages; n < run.count && !run.isLate; ) {
      const end = Math.min(run.count, n + storedEach)
      for (; n < end; n++) await store.save(project, urlOf(n), numberedPage(n, run.count))
      await store.changed(project)
      run.done({ pages: n })
      meter(n)
    }
  })
  run.done({ isStored: run.progress.pages >= run.count })
  await close()
}

/** Puts the pages of the segments into the engine as the process does that makes its tables, one segment after the other. */
const loadPages = async (run: Run): Promise<void> => {
  if (run.progress.isLoaded) return
  const opened = await openedPages(run.folder, withoutVectorIndexes(await lancePackages()), 2 * run.count)
  const { changes } = opened.store
  await changes.enlarged(place)
  const { segments = [], revision = 0 } = (await changes.state(place)) ?? {}
  const index = { project, name: `${place.id} large ${segmentFormat}`, dimensions }
  const meter = run.meter('segments in the engine', run.progress.loaded.length, segments.length)
  await run.timed('loaded', async () => {
    for (const ref of segments) {
      if (run.isLate) return
      if (run.progress.loaded.includes(ref.id)) continue
      const segment = new PageSegment(await wholeSegment(changes.blobs.reader(place, ref)))
      for (let from = 0; from < segment.ids.length; from += loadedEach) {
        const count = Math.min(loadedEach, segment.ids.length - from)
        await opened.engine.load(
          index,
          Array.from({ length: count }, (_, n) => documentOf(packedPage(segment, from + n))),
        )
      }
      run.done({ loaded: [...run.progress.loaded, ref.id] })
      meter(run.progress.loaded.length)
    }
    await opened.engine.note(index, { step: revision, added: new Map(), kept: [], isNew: true })
    // the summaries of all segments
    await opened.indexesOf(true).changed(project)
    run.done({ isLoaded: true })
  })
  await opened.close()
}

const searchBefore = async (run: Run): Promise<void> => {
  if (run.progress.before === null && run.progress.isLoaded) run.done({ before: await searched(run, false) })
}

const searchAfter = async (run: Run): Promise<void> => {
  if (run.progress.after === null && run.progress.isIndexed) run.done({ after: await searched(run, true) })
}

/** Searches in a process of its own. */
const searched = async ({ folder }: Run, isIndexed: boolean): Promise<SearchTimes> => {
  console.error(`searching ${isIndexed ? 'with' : 'without'} an index of vectors …`)
  const script = join(import.meta.dirname, 'search-process.ts')
  const given = [script, folder, `${sized(50, 3)}`, isIndexed ? 'indexed' : 'plain']
  const child = spawn(process.execPath, [...process.execArgv, ...given], { stdio: ['ignore', 'pipe', 'inherit'] })
  return parsedTimes(await text(child.stdout))
}

/** Waits until the upkeep of a process has made the indexes of vectors. */
const indexVectors = async (run: Run): Promise<void> => {
  if (run.progress.isIndexed || !run.progress.isLoaded) return
  const packages = await lancePackages()
  const { lance } = packages
  const opened = await openedPages(run.folder, packages, 2 * run.count)
  const db = await lance.connect(
    join(run.folder, 'tables'),
    { readConsistencyInterval: 0 },
    new lance.Session(64n << 20n, 16n << 20n),
  )
  const missing = async (): Promise<number> => {
    let count = 0
    for (const name of await db.tableNames({ limit: 1_000 })) {
      const table = await db.openTable(name)
      const columns = (await table.listIndices()).flatMap((each) => each.columns)
      if ((await table.countRows()) >= indexedFrom && !columns.includes('vector')) count++
    }
    return count
  }
  await run.timed('vectors indexed', async () => {
    for (let left = await missing(); left > 0 && !run.isLate; left = await missing()) {
      console.error(`indexes of vectors: ${left} parts are left, ${(process.memoryUsage.rss() / 1e6).toFixed(0)} MB`)
      await pause(10_000)
    }
    run.done({ isIndexed: (await missing()) === 0 })
    db.close()
    await opened.close()
  })
}

const changePages = async (run: Run): Promise<void> => {
  if (!run.progress.isIndexed) return
  const opened = await openedPages(run.folder, await lancePackages(), 2 * run.count)
  const indexes = opened.indexesOf(true)
  const changed = async (name: string, pages: number): Promise<void> => {
    const version = run.progress.version + 1
    run.done({ version })
    await run.timed(name, async () => {
      for (let n = 0; n < pages; n++) await opened.store.save(project, urlOf(n), numberedPage(n, run.count, version))
      await indexes.changed(project)
    })
  }
  // its first change also reads what the process knows of the corpus
  await changed('first page changed by a process', 1)
  await changed('one page changed', 1)
  await changed('300 pages changed', Math.min(300, run.count))
  await opened.close()
}

/** Takes a page down: until its removal is decided, and until no file has anything of it. */
const takePageDown = async (run: Run): Promise<void> => {
  if (!run.progress.isIndexed) return
  const opened = await openedPages(run.folder, await lancePackages(), 2 * run.count)
  const { store } = opened
  const url = urlOf(run.count - run.progress.version)
  await run.timed('takedown until no file has the page', async () => {
    await run.timed('takedown, segments', async () => {
      await store.block(project, url, 'wtd_1')
      await store.purge(project)
    })
    await run.timed('takedown, answered after the segments', () => opened.indexesOf(false).dropped(project))
    while ((await store.changes.state(place))?.erasing !== undefined) await pause(200)
  })
  await opened.close()
}

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)

const rowsOf = ({ folder, progress, count }: Run): readonly Row[] => {
  const row = (measure: string, unit: string, ours: number): Row => ({
    ...{ measure: `${measure}, ${count.toLocaleString('en')} pages`, unit, ours },
  })
  const timesOf = (name: string, times: SearchTimes | null): readonly Row[] =>
    times === null
      ? []
      : [
          row(`${name}: a process until its first search`, 'ms', times.first.sinceStart),
          row(`${name}: the same without its code`, 'ms', times.first.opening),
          row(`${name}: its memory then`, 'MB', times.first.mb),
          ...(['words', 'vectors'] as const).flatMap((kind) => [
            row(`${name}: search by ${kind}, median`, 'ms', times[kind].median),
            row(`${name}: search by ${kind}, p95`, 'ms', times[kind].p95),
            row(`${name}: search by ${kind}, CPU`, 'ms', times[kind].cpu),
            row(`${name}: memory after searches by ${kind}`, 'MB', times[kind].mb),
          ]),
        ]
  const tables = join(folder, 'tables')
  return [
    row('stored so far', 'pages', progress.pages),
    ...Object.entries(progress.figures).map(([name, value]) =>
      row(name, name.slice(name.lastIndexOf(', ') + 2), value),
    ),
    ...timesOf('vectors without index', progress.before),
    ...timesOf('vectors with index', progress.after),
    row('tables of LanceDB', 'MB', bytesIn(tables) / 1e6),
    row('SQLite and segments', 'MB', (bytesIn(folder) - bytesIn(tables)) / 1e6),
  ]
}
