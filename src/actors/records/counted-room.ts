import type { RecordStore } from '#storage/ports.ts'

/** A limit of what an owner may have, counted in the store. */
export interface Room {
  readonly max: number
  /** Number of what is to be created; 1 by default. */
  readonly more?: number
  /** Counts what is stored, including everything whose creation has ended. */
  readonly count: () => Promise<number>
  /** The error when there is no room. */
  readonly full: (stored: number) => Error
}

/** A creation that has not ended. */
interface UnderWay {
  readonly more: number
  readonly ended: Promise<void>
}

const all = new WeakMap<RecordStore, CountedRooms>()

/**
 * Keeps what this process creates at the same time within limits that are counted in the store: a creation counts those
 * that came before it and have not ended. While there is room for all of them they run at the same time; the last places
 * are given one after another. Other processes are not counted until their rows are stored.
 */
export class CountedRooms {
  readonly #lines = new Map<string, UnderWay[]>()

  /** Returns the instance for a store. */
  static at(records: RecordStore): CountedRooms {
    const known = all.get(records) ?? new CountedRooms()
    all.set(records, known)
    return known
  }

  /** Runs `create` if the owner `key` has room for it. @throws the error of `room.full` */
  async within<T>(key: string, room: Room, create: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? []
    this.#lines.set(key, line)
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const own = { more: room.more ?? 1, ended }
    line.push(own)
    try {
      await waitForRoom(line, own, room)
      return await create()
    } finally {
      line.splice(line.indexOf(own), 1)
      if (line.length === 0) this.#lines.delete(key)
      end()
    }
  }
}

const waitForRoom = async (line: readonly UnderWay[], own: UnderWay, room: Room): Promise<void> => {
  for (;;) {
    // noted before the count: what ends meanwhile may be counted twice, and is never missed
    const before = line.slice(0, line.indexOf(own))
    const stored = await room.count()
    const ahead = before.reduce((sum, { more }) => sum + more, 0)
    if (stored + ahead + own.more <= room.max) return
    const [first] = before
    if (first === undefined) throw room.full(stored)
    await first.ended
  }
}
