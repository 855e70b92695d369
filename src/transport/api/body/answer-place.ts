import { ServiceError } from '#specs/errors/errors.ts'
import type { HttpResponse } from '#transport/http/http-port.ts'
import type { BodyRoom, BodySeat } from './body-room.ts'

/** Shorter answers are not counted: their number is bounded by that of connections. */
const countedBytes = 64 * 1024

/**
 * The room of one long answer, beside that of bodies of requests, until the connection has taken it whole or the peer is gone: a
 * client that reads none of its answers leaves each in memory.
 */
export class AnswerPlace {
  readonly #room: BodyRoom
  readonly #project: string
  readonly #response: HttpResponse
  #seat: BodySeat | null = null

  constructor(room: BodyRoom, project: string, response: HttpResponse) {
    this.#room = room
    this.#project = project
    this.#response = response
  }

  /** Waits for room for an answer that may become so long, before it is made. @throws {ServiceError} `overloaded` */
  async reserve(bytes: number): Promise<void> {
    this.#take(await this.#room.enter(this.#project, bytes))
  }

  /**
   * The answer is made, and is about to be sent. @param isRepeatable nothing has happened for it: it may be refused.
   * @throws {ServiceError} `overloaded`
   */
  hold(bytes: number, isRepeatable: boolean): void {
    if (this.#seat !== null) this.#seat.hold(bytes)
    else if (bytes >= countedBytes) this.#take(this.#seatFor(bytes, isRepeatable))
  }

  /** What waits for the reader of a stream has become so long. False: there is no room for it. */
  grow(bytes: number): boolean {
    this.#seat?.leave()
    this.#seat = bytes < countedBytes ? null : this.#room.tryEnter(this.#project, bytes)
    return bytes < countedBytes || this.#seat !== null
  }

  #seatFor(bytes: number, isRepeatable: boolean): BodySeat {
    if (!isRepeatable) return this.#room.force(this.#project, bytes)
    const seat = this.#room.tryEnter(this.#project, bytes)
    if (seat === null) throw new ServiceError('overloaded', { retryAfterS: 1 })
    return seat
  }

  #take(seat: BodySeat): void {
    this.#seat = seat
    this.#response.onOver(() => seat.leave())
  }
}
