import { type AnswerSeat, answerRoom } from '#outgoing/answer-room.ts'
import { BoundedBytes } from '#outgoing/bounded-body.ts'
import { noRoom, streamBroken } from '../call/failure.ts'
import { maxWholeBytes } from './whole-answer.ts'

/** The bytes of one call's answer that is read whole, with their room in memory. */
export class GatheredAnswer {
  readonly #seat: AnswerSeat
  #bytes = new BoundedBytes(maxWholeBytes)

  constructor(project: string) {
    this.#seat = answerRoom.seat(project)
  }

  get bytes(): Buffer {
    return this.#bytes.bytes
  }

  /** @throws {AttemptFailed} for more than an answer may have, and where there is no room for it. */
  push(part: Buffer): void {
    if (!this.#bytes.push(part)) throw streamBroken()
    this.takeRoom(part)
  }

  /** For a part that is gathered elsewhere. @throws {AttemptFailed} */
  takeRoom(part: Buffer): void {
    if (!this.#seat.grow(part.length)) throw noRoom()
  }

  /** Another attempt begins, or the call is over. */
  clear(): void {
    this.#bytes = new BoundedBytes(maxWholeBytes)
    this.#seat.leave()
  }
}
