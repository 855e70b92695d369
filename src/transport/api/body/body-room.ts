import { getHeapStatistics } from 'node:v8'
import type { Principal } from '#actors/call/call.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** Smaller bodies are not counted: their number is bounded by that of connections. */
export const countedBytes = 16 * 1024

/** Of the heap: what a chat of 7 MB has at most at one time (bytes, values, what is sent on) is four times its body. */
const shareOfHeap = 1 / 6
/** Of the room: one that sends much leaves some to others. */
const shareOfProject = 3 / 4
/** Shorter than the silence after which a server closes a connection: what waits gets an answer. */
const patienceMs = 5_000
const mostWaiting = 1_000

interface Waiting {
  readonly project: string
  readonly bytes: number
  readonly enter: (seat: BodySeat) => void
}

/** Whose share of the room a caller's bodies take. */
export const projectOf = (principal: Principal): string => (principal.kind === 'public' ? '' : principal.project)

/** The room that one body takes: given back once `done` was called for its answer and for what runs for it. */
export class BodySeat {
  readonly #room: BodyRoom
  readonly project: string
  #bytes: number
  #uses = 2

  constructor(room: BodyRoom, project: string, bytes: number) {
    this.#room = room
    this.project = project
    this.#bytes = bytes
  }

  /** So many bytes came, of a body that had not said how many. */
  hold(bytes: number): void {
    const less = Math.min(bytes, this.#bytes) - this.#bytes
    this.#bytes += less
    this.#room.change(this.project, less)
  }

  done(): void {
    if (--this.#uses === 0) this.#room.change(this.project, -this.#bytes)
  }

  /** Gives it back at once, where an answer and what runs for it end together. */
  leave(): void {
    this.done()
    this.done()
  }
}

/**
 * The memory that bodies of requests may take at one time. A body that finds no room is not read: its sender waits, and is
 * answered 503 when that takes too long. Without it a hundred chats with long bodies at once ended a process with a small heap.
 */
export class BodyRoom {
  readonly most: number
  readonly #mostOfProject: number
  readonly #held = new Map<string, number>()
  readonly #waiting = new Set<Waiting>()
  /** Bytes that are taken now. */
  bytes = 0

  constructor(most = Math.floor(getHeapStatistics().heap_size_limit * shareOfHeap)) {
    this.most = most
    this.#mostOfProject = Math.floor(most * shareOfProject)
  }

  /** Takes room for a body; one larger than all of it has it alone. @throws {ServiceError} (or rejects) `overloaded` */
  enter(project: string, bytes: number): BodySeat | Promise<BodySeat> {
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

  /** Room at once for what is in memory already; null where it would have to wait. */
  tryEnter(project: string, bytes: number): BodySeat | null {
    return this.#waiting.size === 0 && this.#fits(project, bytes) ? this.#seat(project, bytes) : null
  }

  /** Room for what is in memory already and cannot be given up: there may be too little for others then. */
  force(project: string, bytes: number): BodySeat {
    return this.#seat(project, bytes)
  }

  /** What a project holds becomes so much more; less lets others in. */
  change(project: string, bytes: number): void {
    const held = (this.#held.get(project) ?? 0) + bytes
    this.bytes += bytes
    if (held > 0) this.#held.set(project, held)
    else this.#held.delete(project)
    if (bytes < 0) this.#admit()
  }

  /** In the order of their coming, past those whose project has its share. */
  #admit(): void {
    for (const { project, bytes, enter } of [...this.#waiting])
      if (this.#fits(project, bytes)) enter(this.#seat(project, bytes))
      else if (this.bytes + bytes > this.most && this.bytes > 0) return
  }

  #seat(project: string, bytes: number): BodySeat {
    this.change(project, bytes)
    return new BodySeat(this, project, bytes)
  }

  #fits(project: string, bytes: number): boolean {
    const held = this.#held.get(project) ?? 0
    if (this.bytes > 0 && this.bytes + bytes > this.most) return false
    return held === 0 || held + bytes <= this.#mostOfProject
  }
}
