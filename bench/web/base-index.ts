import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { knowledgeKinds } from '#src/actors/knowledge/kinds.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { nodeOn } from '#test/actors/knowledge/index/made-sources.ts'
import { sized } from '../extent.ts'
import { median, type Row } from '../row.ts'
import { word } from './made-pages.ts'

const project = 'prj_a'
const dimensions = 384
/** Number of sources that are written at once. */
const batch = 20
/** A text of some fifty chunks of a thousand characters. */
const text = (): string =>
  Array.from({ length: 700 }, () => `${Array.from({ length: 9 }, word).join(' ')} of the.`).join(' ')

/** The CPU of work in ms. */
const cpuOf = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/**
 * Measures the index of a base of 100,000 chunks with vectors that is read from segments in the store: its first search
 * after a start, later ones, and searches while sources change. On SQLite, in one process.
 */
export async function benchBaseIndex(): Promise<readonly Row[]> {
  const sources = sized(2_000, 40)
  const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-base-'))
  const storage = openSqliteStorage({ path: join(folder, 'base.db') })
  await storage.records.prepare(knowledgeKinds)
  const writer = nodeOn(storage, project, { dimensions })
  for (let first = 0; first < sources; first += batch) {
    const numbers = Array.from({ length: batch }, (_, n) => first + n)
    await writer.write(await Promise.all(numbers.map((n) => writer.rowOf(n, { text: text() }))))
    await writer.of()
  }
  const query = () => `${word()} ${word()} ${word()}`
  const first = () => nodeOn(storage, project, { dimensions }).search(query())
  // the code of a first search is compiled before: a start has it in the bundle's cache
  await first()
  const loads = [await cpuOf(first), await cpuOf(first), await cpuOf(first)]
  const node = nodeOn(storage, project, { dimensions })
  await node.search(query())
  const chunks = (await node.of()).extent
  const timed = async (before: () => Promise<void>): Promise<number> => {
    const each: number[] = []
    for (let n = 0; n < 50; n++) {
      await before()
      const from = performance.now()
      await node.search(query())
      each.push(performance.now() - from)
    }
    return median(each)
  }
  const quiet = await timed(async () => {})
  let version = 2
  const change = async () => {
    const row = await node.rowOf(version % sources, { text: text(), version: ++version })
    await node.write([row])
    node.indexes.changed(node.base)
  }
  const changing = await timed(change)
  const memory = node.indexes.bytes
  await storage.close()
  rmSync(folder, { recursive: true, force: true })
  const of = `${Math.round(chunks / 1_000).toLocaleString('en')},000 chunks`
  const row = (measure: string, unit: string, ours: number): Row => ({ measure: `${measure}, ${of}`, unit, ours })
  const most = sources === 2_000 ? 300 : 100
  return [
    { ...row('first search after a start: CPU', 'ms', median(loads)), bound: { of: 'ours', atMost: most } },
    row('later search', 'ms', quiet),
    row('search right after a source of fifty chunks changed', 'ms', changing),
    row('memory of the index', 'MB', memory / 1e6),
  ]
}
