import { ParserFailed, ParserPool } from '../parser-pool.ts'
import type { pageTasks } from './page-tasks.ts'
import { isPageRead, type PageInput, type PageRead } from './read-page.ts'

/** Maximum number of workers that read pages concurrently. */
export const maxRooms = 4
/** Maximum time for one page in ms, whatever its request allows. */
const maxDeadlineMs = 10_000
const limits = { deadlineMs: maxDeadlineMs, maxHeapMb: 2048, maxWaiting: 64, maxGrowthMb: 768 }

interface Room {
  readonly parser: ParserPool<typeof pageTasks>
  /** Number of pages that it is reading, or that wait for it. */
  load: number
}

/**
 * Reads pages in workers. Each page goes to the worker with the least load, so that a slow page delays no other while a
 * worker is free. Workers are started on demand.
 */
export class PageRooms {
  readonly #rooms: Room[] = []
  #isClosed = false

  /** @param deadlineMs timeout for the page. @throws {ParserFailed} */
  async read(input: PageInput, deadlineMs: number): Promise<PageRead> {
    const room = this.#free()
    room.load += 1
    try {
      const read: unknown = await room.parser.parse('page', input, { deadlineMs: Math.min(maxDeadlineMs, deadlineMs) })
      if (!isPageRead(read)) throw new ParserFailed('unreadable', 'the worker answered something else')
      return read
    } catch (error) {
      // restarts a terminated worker right away, so that the next page does not wait for its start
      if (!this.#isClosed) room.parser.warm()
      throw error
    } finally {
      room.load -= 1
    }
  }

  /** Terminates the workers; reads in progress fail. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#rooms.map(({ parser }) => parser.close()))
  }

  #free(): Room {
    const [least] = this.#rooms.toSorted(
      (a, b) => a.load - b.load || Number(b.parser.isReady) - Number(a.parser.isReady),
    )
    if (least !== undefined && (least.load === 0 || this.#rooms.length >= maxRooms)) return least
    const parser = new ParserPool<typeof pageTasks>(limits, new URL('./page-worker.ts', import.meta.url))
    const room = { parser, load: 0 }
    this.#rooms.push(room)
    return room
  }
}
