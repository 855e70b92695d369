import type { Ticking } from '#runtime/internal.ts'
import type { BodyPace } from '../body-pace.ts'

/**
 * The minimum rate of a WebSocket message that is arriving, the same as that of a body: a peer that never finishes one
 * would keep 1 MB in memory for as long as it answers pings.
 */
export class UnfinishedMessage implements Ticking {
  place = -1
  readonly #pace: BodyPace
  readonly #giveUp: () => void
  #sinceMs = 0
  #bytes = 0

  constructor(pace: BodyPace, giveUp: () => void) {
    this.#pace = pace
    this.#giveUp = giveUp
  }

  /** Called after each part. `isUnfinished`: a message has begun and has not ended. */
  arrived(bytes: number, isUnfinished: boolean): void {
    if (!isUnfinished) {
      this.end()
      return
    }
    if (this.place < 0) {
      this.#sinceMs = performance.now()
      this.#bytes = 0
      this.#pace.watch(this)
    }
    this.#bytes += bytes
  }

  tick(): void {
    if (this.#pace.isTooSlow(this.#bytes, performance.now() - this.#sinceMs)) this.fail()
  }

  fail(): void {
    this.end()
    this.#giveUp()
  }

  end(): void {
    this.#pace.leave(this)
  }
}
