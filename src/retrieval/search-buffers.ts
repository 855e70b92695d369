import { float32s, int32s, uint8s } from './growing.ts'

/** Reusable arrays: views of the requested length over larger arrays that are kept. */
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

  /** Returns an array of zeros, exclusive to the caller until `free`. */
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

/** Over-allocation factor, so that an index that grows between two searches does not need new arrays each time. */
const headroom = 1.25

/**
 * Working arrays of one search, with one number per slot of the index. They are reused by the next search: arrays for
 * ten thousand passages are allocated outside the JavaScript heap, and the full garbage collections they would cause
 * cost more than a search.
 */
export class SearchBuffers {
  readonly #floats = new Kept(float32s, (whole, length) => whole.subarray(0, length))
  readonly #wholes = new Kept(int32s, (whole, length) => whole.subarray(0, length))
  readonly #flags = new Kept(uint8s, (whole, length) => whole.subarray(0, length))
  /** Length of the largest array taken. */
  largest = 0

  /** Returns an array of zeros, like the other methods; valid until `free`. */
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

/** Maximum number of idle buffers kept, and the number of slots above which buffers are not kept (about 12 MB each). */
export const maxIdleBuffers = 4
export const maxBufferSlots = 200_000
const kept: SearchBuffers[] = []

/**
 * Calls `search` with buffers of its own, which are returned to the pool when it ends. Searches yield to one another, so
 * several can be in progress at once. The result must not reference their arrays.
 */
export async function withBuffers<T>(search: (buffers: SearchBuffers) => Promise<T>): Promise<T> {
  const buffers = kept.pop() ?? new SearchBuffers()
  try {
    return await search(buffers)
  } finally {
    buffers.free()
    if (kept.length < maxIdleBuffers && buffers.largest <= maxBufferSlots) kept.push(buffers)
  }
}
