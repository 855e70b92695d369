import { median } from '../../row.ts'
import { numberedQuery, project } from './numbered-page.ts'
import { lancePackages, openedPages, withoutVectorIndexes } from './opened-pages.ts'
import type { SearchTimes } from './schema.ts'

/** Searches the pages of the folder named first in a process of its own, and prints the times as JSON. */
const [, , folder = '', searches = '50', isIndexed = ''] = process.argv
const from = performance.now()
const packages = await lancePackages()
const opened = await openedPages(folder, isIndexed === 'indexed' ? packages : withoutVectorIndexes(packages), 2 ** 31)
const indexes = opened.indexesOf(true)

const timed = async (n: number, hasVector: boolean) => {
  const [began, before] = [performance.now(), process.cpuUsage()]
  const hits = await indexes.search(project, numberedQuery(n, hasVector))
  const { user, system } = process.cpuUsage(before)
  return { ms: performance.now() - began, cpu: (user + system) / 1_000, hits: hits.length }
}
const many = async (hasVector: boolean) => {
  const all: Awaited<ReturnType<typeof timed>>[] = []
  for (let n = 1; n <= Number(searches); n++) all.push(await timed(n, hasVector))
  const times = all.map(({ ms }) => ms).toSorted((a, b) => a - b)
  return {
    ...{ median: median(times), p95: times[Math.floor((times.length - 1) * 0.95)] ?? 0 },
    ...{ cpu: median(all.map(({ cpu }) => cpu)), hits: all.reduce((sum, { hits }) => sum + hits, 0) },
    mb: process.memoryUsage.rss() / 1e6,
  }
}
const first = await timed(0, false)
const sinceStart = performance.now()
const opening = sinceStart - from
const firstMb = process.memoryUsage.rss() / 1e6
const answer: SearchTimes = {
  first: { ms: first.ms, cpu: first.cpu, sinceStart, opening, mb: firstMb },
  words: await many(false),
  vectors: await many(true),
}
process.stdout.write(`${JSON.stringify(answer)}\n`)
await opened.close()
