import { ServiceError } from '#specs/errors/errors.ts'
import type { HttpResponse } from '#transport/http/http-port.ts'
import type { BodyMemory, BodyReservation } from './body-memory.ts'
import type { MemoryOwner } from './memory-owner.ts'

/** Answers shorter than this are not counted: the number of connections bounds them. */
const countedBytes = 64 * 1024

/**
 * Memory of one long answer, counted together with that of request bodies until the connection has sent all of it or
 * the peer has disconnected: a client that does not read its answers would leave each in memory.
 */
export class SentAnswerMemory {
  readonly #memory: BodyMemory
  readonly #ownerOf: () => MemoryOwner
  readonly #response: HttpResponse
  #reservation: BodyReservation | null = null

  /** @param ownerOf called only for a long answer. */
  constructor(memory: BodyMemory, ownerOf: () => MemoryOwner, response: HttpResponse) {
    this.#memory = memory
    this.#ownerOf = ownerOf
    this.#response = response
  }

  /** Waits for memory for an answer of at most this size, before it is produced. @throws {ServiceError} `overloaded` */
  async reserve(bytes: number): Promise<void> {
    this.#take(await this.#memory.enter(this.#ownerOf(), bytes))
  }

  /**
   * Counts an answer that is about to be sent.
   *
   * @param isRepeatable nothing was changed for it, so it may be refused.
   * @throws {ServiceError} `overloaded`
   */
  hold(bytes: number, isRepeatable: boolean): void {
    if (this.#reservation !== null) this.#reservation.hold(bytes)
    else if (bytes >= countedBytes) this.#take(this.#admittedBody(bytes, isRepeatable))
  }

  /** Sets the bytes that are buffered for a stream's reader. False: there is no memory for them. */
  grow(bytes: number): boolean {
    this.#reservation?.leave()
    this.#reservation = bytes < countedBytes ? null : this.#memory.tryEnter(this.#ownerOf(), bytes)
    return bytes < countedBytes || this.#reservation !== null
  }

  #admittedBody(bytes: number, isRepeatable: boolean): BodyReservation {
    if (!isRepeatable) return this.#memory.force(this.#ownerOf(), bytes)
    const reservation = this.#memory.tryEnter(this.#ownerOf(), bytes)
    if (reservation === null) throw new ServiceError('overloaded', { retryAfterS: 1 })
    return reservation
  }

  #take(reservation: BodyReservation): void {
    this.#reservation = reservation
    this.#response.onOver(() => reservation.leave())
  }
}
