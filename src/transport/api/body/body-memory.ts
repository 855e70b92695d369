import { getHeapStatistics } from 'node:v8'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyListener } from '#transport/http/http-port.ts'
import { isOfBrowser, type MemoryOwner } from './memory-owner.ts'
import { type Arriving, keptShare, MemoryQuota } from './memory-quota.ts'

/** Bodies smaller than this are not counted: the number of connections bounds them. */
export const countedBytes = 16 * 1024

/**
 * Share of the heap: a chat of 7 MB needs at most four times its body at one time (bytes, values, upstream request).
 */
const shareOfHeap = 1 / 6
/**
 * Longest wait for memory. Shorter than the silence after which a server closes a connection, so that the client gets
 * an answer.
 */
const patienceMs = 5_000
const maxWaiting = 1_000
/** Maximum number of waiting bodies of one secret credential, and of one browser. */
const maxWaitingPerOwner = { secret: 250, browser: 32 } as const

/** `isArriving`: the bytes count as `arrived` reports them; otherwise all at once. */
interface Size {
  readonly bytes: number
  readonly isArriving: boolean
}

interface Waiting {
  readonly owner: MemoryOwner
  readonly bytes: number
  readonly enter: () => void
}

/** Reports that the memory is used up by others. */
const overloaded = (): ServiceError => new ServiceError('overloaded', { retryAfterS: 1 })

/**
 * Memory of one body or answer. It is released once `done` has been called twice: for the answer, and for the work
 * behind it.
 */
export class BodyReservation implements Arriving, BodyListener {
  readonly #memory: BodyMemory
  readonly #share: MemoryQuota
  #promised: number
  #held = 0
  #isArriving: boolean
  #uses = 2
  #onRefused: ((error: Error) => void) | null = null
  #refusal: ServiceError | null = null

  constructor(memory: BodyMemory, share: MemoryQuota, { bytes, isArriving }: Size) {
    this.#memory = memory
    this.#share = share
    this.#promised = bytes
    this.#isArriving = isArriving
    share.enter(bytes)
    if (isArriving) share.begin(this)
    else this.#hold(bytes)
  }

  /** Counts the bytes that have arrived so far. */
  arrived(bytes: number): void {
    if (!this.#isArriving) return
    this.#hold(bytes)
    this.#memory.relieve()
  }

  onRefused(listener: (error: Error) => void): void {
    this.#onRefused = listener
    if (this.#refusal !== null) listener(this.#refusal)
  }

  /** Sets the final length, which may differ from the declared one. */
  hold(bytes: number): void {
    if (this.#uses === 0) return
    this.#finish()
    this.#share.promised += bytes - this.#promised
    this.#promised = bytes
    this.#hold(bytes)
    this.#memory.changed()
  }

  done(): void {
    if (--this.#uses === 0) this.#release()
  }

  /** Releases the memory at once, where the answer and the work behind it end together. */
  leave(): void {
    this.done()
    this.done()
  }

  evict(): void {
    this.#finish()
    this.#hold(0)
    this.#refusal = overloaded()
    this.#onRefused?.(this.#refusal)
  }

  #release(): void {
    this.#finish()
    this.#hold(0)
    this.#share.promised -= this.#promised
    this.#share.leave()
    this.#memory.changed()
  }

  #finish(): void {
    this.#share.finish(this, this.#held)
    this.#isArriving = false
  }

  #hold(bytes: number): void {
    this.#share.change(bytes - this.#held, this.#isArriving)
    this.#held = bytes
  }
}

/**
 * The memory that request bodies and long answers may use at one time (specs/decisions/0225-room-for-long-bodies.md).
 *
 * A body counts as it arrives, and its declared length only against the share of its own credential: there it waits its
 * turn, and gets 503 when that takes too long. When the bodies that are arriving use up the memory nevertheless, the
 * newest one of the caller with the most such bytes is refused.
 */
export class BodyMemory {
  readonly max: number
  readonly #whole: MemoryQuota
  readonly #waiting = new Set<Waiting>()

  constructor(max = Math.floor(getHeapStatistics().heap_size_limit * shareOfHeap)) {
    this.max = max
    this.#whole = MemoryQuota.whole(max)
  }

  /** Bytes in use. */
  get bytes(): number {
    return this.#whole.held
  }

  /**
   * Admits a body of at most `bytes`, which count as they arrive. A body larger than its share is admitted when it is
   * the only one there.
   *
   * @throws {ServiceError} (or rejects) `overloaded`
   */
  admit(owner: MemoryOwner, bytes: number): BodyReservation | Promise<BodyReservation> {
    return this.#enter(owner, { bytes, isArriving: true })
  }

  /** Reserves memory for bytes that will be in memory soon. @throws {ServiceError} (or rejects) `overloaded` */
  enter(owner: MemoryOwner, bytes: number): BodyReservation | Promise<BodyReservation> {
    return this.#enter(owner, { bytes, isArriving: false })
  }

  /** Reserves memory without waiting, for bytes that are in memory already; null when it is full. */
  tryEnter(owner: MemoryOwner, bytes: number): BodyReservation | null {
    return this.#fits(owner, bytes) ? this.force(owner, bytes) : null
  }

  /** Reserves memory for bytes that are in memory already and cannot be dropped, even beyond the limit. */
  force(owner: MemoryOwner, bytes: number): BodyReservation {
    return this.#reservation(owner, { bytes, isArriving: false })
  }

  /** Evicts arriving bodies while they use up the memory; one that is alone may do so. */
  relieve(): void {
    while (this.bytes > this.max * (1 - keptShare) && this.#whole.count > 1) {
      const victim = this.#whole.victim()
      if (victim === null) return
      victim.evict()
    }
  }

  /** Admits waiting bodies after a release: in order of arrival for each credential. */
  changed(): void {
    const behind = new Set<string>()
    for (const { owner, bytes, enter } of [...this.#waiting]) {
      const key = keyOf(owner)
      if (behind.has(key)) continue
      if (this.#admits(owner, bytes)) enter()
      else behind.add(key)
    }
  }

  #enter(owner: MemoryOwner, size: Size): BodyReservation | Promise<BodyReservation> {
    const { bytes } = size
    if (this.#fits(owner, bytes)) return this.#reservation(owner, size)
    const maxPerOwner = maxWaitingPerOwner[isOfBrowser(owner) ? 'browser' : 'secret']
    if (this.#waiting.size >= maxWaiting || this.#waitingOf(owner).length >= maxPerOwner) throw overloaded()
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer)
        this.#waiting.delete(waiting)
        settle()
      }
      const enter = () => end(() => resolve(this.#reservation(owner, size)))
      const waiting: Waiting = { owner, bytes, enter }
      const timer = setTimeout(() => end(() => reject(overloaded())), patienceMs)
      this.#waiting.add(waiting)
    })
  }

  #reservation(owner: MemoryOwner, size: Size): BodyReservation {
    const reservation = new BodyReservation(this, this.#whole.of(owner), size)
    this.relieve()
    return reservation
  }

  #fits(owner: MemoryOwner, bytes: number): boolean {
    return this.#waitingOf(owner).length === 0 && this.#admits(owner, bytes)
  }

  #admits(owner: MemoryOwner, bytes: number): boolean {
    return this.#whole.of(owner).admits(bytes)
  }

  #waitingOf(owner: MemoryOwner): readonly Waiting[] {
    if (this.#waiting.size === 0) return []
    const key = keyOf(owner)
    return [...this.#waiting].filter((each) => keyOf(each.owner) === key)
  }
}

const keyOf = (owner: MemoryOwner): string => owner.map(({ key }) => key).join('\n')
