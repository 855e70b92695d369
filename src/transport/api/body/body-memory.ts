import { getHeapStatistics } from 'node:v8'
import type { Principal } from '#actors/call/call.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** Bodies smaller than this are not counted: the number of connections bounds them. */
export const countedBytes = 16 * 1024

/**
 * Share of the heap: a chat of 7 MB needs at most four times its body at one time (bytes, values, upstream request).
 */
const shareOfHeap = 1 / 6
/** Share of the room for one project, so that a project that sends much leaves some to others. */
const shareOfProject = 3 / 4
/**
 * Longest wait for memory. Shorter than the silence after which a server closes a connection, so that the client gets
 * an answer.
 */
const patienceMs = 5_000
const mostWaiting = 1_000

interface Waiting {
  readonly project: string
  readonly bytes: number
  readonly enter: (seat: BodyReservation) => void
}

/** The project whose share of the room a caller's bodies count against. */
export const projectOf = (principal: Principal): string => (principal.kind === 'public' ? '' : principal.project)

/**
 * Memory reserved for one body. It is released once `done` has been called twice: for the answer, and for the work
 * behind it.
 */
export class BodyReservation {
  readonly #room: BodyMemory
  readonly project: string
  #bytes: number
  #uses = 2

  constructor(room: BodyMemory, project: string, bytes: number) {
    this.#room = room
    this.project = project
    this.#bytes = bytes
  }

  /** Corrects the reservation to the bytes received, for a body without a declared length. */
  hold(bytes: number): void {
    const less = Math.min(bytes, this.#bytes) - this.#bytes
    this.#bytes += less
    this.#room.change(this.project, less)
  }

  done(): void {
    if (--this.#uses === 0) this.#room.change(this.project, -this.#bytes)
  }

  /** Releases the memory at once, where the answer and the work behind it end together. */
  leave(): void {
    this.done()
    this.done()
  }
}

/**
 * The memory that request bodies and long answers may use at one time. A body that finds no room is not read: its
 * sender waits, and gets 503 when that takes too long. Without this limit, a hundred concurrent chats with long bodies
 * exhausted a small heap.
 */
export class BodyMemory {
  readonly most: number
  readonly #mostOfProject: number
  readonly #held = new Map<string, number>()
  readonly #waiting = new Set<Waiting>()
  /** Bytes in use. */
  bytes = 0

  constructor(most = Math.floor(getHeapStatistics().heap_size_limit * shareOfHeap)) {
    this.most = most
    this.#mostOfProject = Math.floor(most * shareOfProject)
  }

  /**
   * Reserves memory for a body. A body larger than the whole room gets it when it is empty.
   *
   * @throws {ServiceError} (or rejects) `overloaded`
   */
  enter(project: string, bytes: number): BodyReservation | Promise<BodyReservation> {
    const seat = this.tryEnter(project, bytes)
    if (seat !== null) return seat
    if (this.#waiting.size >= mostWaiting) throw new ServiceError('overloaded', { retryAfterS: 1 })
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { project, bytes, enter: (seat) => end(() => resolve(seat)) }
      const timer = setTimeout(() => end(() => reject(new ServiceError('overloaded', { retryAfterS: 1 }))), patienceMs)
      const end = (settle: () => void): void => {
        clearTimeout(timer)
        this.#waiting.delete(waiting)
        settle()
      }
      this.#waiting.add(waiting)
      this.#admit()
    })
  }

  /** Reserves memory without waiting, for bytes that are in memory already; null when there is no room. */
  tryEnter(project: string, bytes: number): BodyReservation | null {
    return this.#waiting.size === 0 && this.#fits(project, bytes) ? this.#seat(project, bytes) : null
  }

  /** Reserves memory for bytes that are in memory already and cannot be dropped, even beyond the limit. */
  force(project: string, bytes: number): BodyReservation {
    return this.#seat(project, bytes)
  }

  /** Changes the bytes of a project; a decrease admits waiting bodies. */
  change(project: string, bytes: number): void {
    const held = (this.#held.get(project) ?? 0) + bytes
    this.bytes += bytes
    if (held > 0) this.#held.set(project, held)
    else this.#held.delete(project)
    if (bytes < 0) this.#admit()
  }

  /** Admits waiting bodies in order of arrival, skipping those whose project has used up its share. */
  #admit(): void {
    for (const { project, bytes, enter } of [...this.#waiting])
      if (this.#fits(project, bytes)) enter(this.#seat(project, bytes))
      else if (this.bytes + bytes > this.most && this.bytes > 0) return
  }

  #seat(project: string, bytes: number): BodyReservation {
    this.change(project, bytes)
    return new BodyReservation(this, project, bytes)
  }

  #fits(project: string, bytes: number): boolean {
    const held = this.#held.get(project) ?? 0
    if (this.bytes > 0 && this.bytes + bytes > this.most) return false
    return held === 0 || held + bytes <= this.#mostOfProject
  }
}
