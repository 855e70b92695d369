import type { ParseOwner } from '../parse-owner.ts'
import { ParserFailed, ParserPool } from '../parser-pool.ts'
import type { pageTasks } from './page-tasks.ts'
import { isPageRead, type PageInput, type PageRead } from './read-page.ts'

/** Maximum number of workers that read pages concurrently. */
const maxParsers = 4
/** `deadlineMs`: time for one page in ms; a request that allows more gives it only to a page that gets little of a processor. */
const limits = { deadlineMs: 10_000, maxHeapMb: 2048, maxWaiting: 64, maxGrowthMb: 768 }

interface PooledParser {
  readonly parser: ParserPool<typeof pageTasks>
  /** Number of pages that it is reading, or that wait for it. */
  load: number
  /** The same by project. */
  readonly loads: Map<string, number>
}

/** A page's owner, and its timeout. */
export interface PageReading {
  readonly deadlineMs: number
  readonly owner: ParseOwner
}

/**
 * Reads pages in workers. Each page goes to the worker with the least load, so that a slow page delays no other while a
 * worker is free. Owners take turns at a worker, and one project never occupies the last of them. Workers are started on
 * demand.
 */
export class PageParsers {
  readonly #parsers: PooledParser[] = []
  #isClosed = false

  /** @throws {ParserFailed} */
  async read(input: PageInput, { deadlineMs, owner }: PageReading): Promise<PageRead> {
    const pooled = this.#parserFor(owner)
    count(pooled, owner, 1)
    try {
      const read: unknown = await pooled.parser.parse('page', input, { deadlineMs, owner })
      if (!isPageRead(read)) throw new ParserFailed('unreadable', 'the worker answered something else')
      return read
    } catch (error) {
      // restarts a terminated worker right away, so that the next page does not wait for its start
      if (!this.#isClosed) pooled.parser.warm()
      throw error
    } finally {
      count(pooled, owner, -1)
    }
  }

  /** Terminates the workers; reads in progress fail. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#parsers.map(({ parser }) => parser.close()))
  }

  #parserFor({ project }: ParseOwner): PooledParser {
    const own = this.#parsers.filter(({ loads }) => loads.has(project))
    const open = own.length >= maxParsers - 1 ? own : this.#parsers
    const [min] = open.toSorted((a, b) => a.load - b.load || Number(b.parser.isReady) - Number(a.parser.isReady))
    if (min !== undefined && (min.load === 0 || open === own || this.#parsers.length >= maxParsers)) return min
    const parser = new ParserPool<typeof pageTasks>(limits, new URL('./page-worker.ts', import.meta.url))
    const pooled = { parser, load: 0, loads: new Map() }
    this.#parsers.push(pooled)
    return pooled
  }
}

const count = (pooled: PooledParser, { project }: ParseOwner, change: 1 | -1): void => {
  pooled.load += change
  const left = (pooled.loads.get(project) ?? 0) + change
  if (left > 0) pooled.loads.set(project, left)
  else pooled.loads.delete(project)
}
