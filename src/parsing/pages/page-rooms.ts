import { ParserFailed, ParserRoom } from '../parser-room.ts'
import type { pageTasks } from './page-tasks.ts'
import { isPageRead, type PageInput, type PageRead } from './read-page.ts'

/** Workers that read pages at the same time. */
export const maxRooms = 4
/** Longest time for one page, in ms, whatever its request allows. */
const maxDeadlineMs = 10_000
const limits = { deadlineMs: maxDeadlineMs, maxHeapMb: 384, maxWaiting: 64, maxGrowthMb: 768 }

interface Room {
  readonly parser: ParserRoom<typeof pageTasks>
  /** Pages that it reads, or that wait for it. */
  load: number
}

/**
 * Reads pages in workers, each page in the worker with the least to do: one that takes its whole time keeps no other
 * waiting while a worker is free. Workers start when they are needed.
 */
export class PageRooms {
  readonly #rooms: Room[] = []
  #isClosed = false

  /** @param deadlineMs time for the page. @throws {ParserFailed} */
  async read(input: PageInput, deadlineMs: number): Promise<PageRead> {
    const room = this.#free()
    room.load += 1
    try {
      const read: unknown = await room.parser.parse('page', input, Math.min(maxDeadlineMs, deadlineMs))
      if (!isPageRead(read)) throw new ParserFailed('unreadable', 'the worker answered something else')
      return read
    } catch (error) {
      // a worker that was ended is replaced now, so that no page waits until it has started
      if (!this.#isClosed) room.parser.warm()
      throw error
    } finally {
      room.load -= 1
    }
  }

  /** Ends the workers; what they read fails. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#rooms.map(({ parser }) => parser.close()))
  }

  #free(): Room {
    const [least] = this.#rooms.toSorted(
      (a, b) => a.load - b.load || Number(b.parser.isReady) - Number(a.parser.isReady),
    )
    if (least !== undefined && (least.load === 0 || this.#rooms.length >= maxRooms)) return least
    const parser = new ParserRoom<typeof pageTasks>(limits, new URL('./page-worker.ts', import.meta.url))
    const room = { parser, load: 0 }
    this.#rooms.push(room)
    return room
  }
}
