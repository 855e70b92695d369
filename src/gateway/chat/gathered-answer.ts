import { type AnswerReservation, answerMemory } from '#outgoing/answer-memory.ts'
import { BoundedBytes } from '#outgoing/bounded-body.ts'
import { memoryFull, streamBroken } from '../call/failure.ts'
import { maxWholeBytes } from './whole-answer.ts'

/** Collects the bytes of an answer that is not streamed, and reserves memory for them. */
export class GatheredAnswer {
  readonly #reservation: AnswerReservation
  #bytes = new BoundedBytes(maxWholeBytes)

  constructor(project: string) {
    this.#reservation = answerMemory.reserve(project)
  }

  get bytes(): Buffer {
    return this.#bytes.bytes
  }

  /** @throws {AttemptFailed} when the answer exceeds `maxWholeBytes`, or when the memory for answers is used up. */
  push(part: Buffer): void {
    if (!this.#bytes.push(part)) throw streamBroken()
    this.reserve(part)
  }

  /** Reserves memory for a part that is collected elsewhere. @throws {AttemptFailed} */
  reserve(part: Buffer): void {
    if (!this.#reservation.grow(part.length)) throw memoryFull()
  }

  /** Discards the bytes and releases their memory; called before another attempt and at the end of the call. */
  clear(): void {
    this.#bytes = new BoundedBytes(maxWholeBytes)
    this.#reservation.leave()
  }
}
