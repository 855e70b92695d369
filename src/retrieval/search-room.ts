import { float32s, int32s, uint8s } from './growing.ts'

/** Numbers by slot, in an array of the size that is needed, over one that is kept. */
class Kept<T extends Float32Array | Int32Array | Uint8Array> {
  readonly #create: (length: number) => T
  readonly #view: (whole: T, length: number) => T
  readonly #whole: T[] = []
  readonly #views: T[] = []
  #used = 0

  constructor(create: (length: number) => T, view: (whole: T, length: number) => T) {
    this.#create = create
    this.#view = view
  }

  /** An array of zeros that no one else has until `free`. */
  take(length: number): T {
    const at = this.#used++
    let view = this.#views[at]
    if (view?.length !== length) {
      let whole = this.#whole[at]
      if (whole === undefined || whole.length < length) {
        whole = this.#create(Math.ceil(length * headroom))
        this.#whole[at] = whole
      }
      view = this.#view(whole, length)
      this.#views[at] = view
    }
    view.fill(0)
    return view
  }

  free(): void {
    this.#used = 0
  }
}

/** A store that grows between two searches does not need new arrays each time. */
const headroom = 1.25

/**
 * The arrays that one search writes its numbers into, one a slot of the index. They are used again by the next: those of ten
 * thousand passages are outside of the heap of JavaScript, and a collection of all of it for their sake costs more than a search.
 */
export class SearchRoom {
  readonly #floats = new Kept(float32s, (whole, length) => whole.subarray(0, length))
  readonly #wholes = new Kept(int32s, (whole, length) => whole.subarray(0, length))
  readonly #flags = new Kept(uint8s, (whole, length) => whole.subarray(0, length))
  /** Slots of the largest array that was taken. */
  largest = 0

  /** Zeros, as all that follow; good until the room is given back. */
  floats(length: number): Float32Array {
    this.largest = Math.max(this.largest, length)
    return this.#floats.take(length)
  }

  integers(length: number): Int32Array {
    return this.#wholes.take(length)
  }

  flags(length: number): Uint8Array {
    return this.#flags.take(length)
  }

  free(): void {
    this.#floats.free()
    this.#wholes.free()
    this.#flags.free()
  }
}

/** Rooms that are kept while no search has them, and slots from which one is not: about 12 MB each. */
export const mostRooms = 4
export const mostRoomSlots = 200_000
const kept: SearchRoom[] = []

/**
 * Calls `search` with a room of its own, which is taken back when it ends: searches give way to one another, so that several are
 * in progress at once. What it answers must not hold an array of the room.
 */
export async function withRoom<T>(search: (room: SearchRoom) => Promise<T>): Promise<T> {
  const room = kept.pop() ?? new SearchRoom()
  try {
    return await search(room)
  } finally {
    room.free()
    if (kept.length < mostRooms && room.largest <= mostRoomSlots) kept.push(room)
  }
}
