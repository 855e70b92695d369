import { nextShare } from '#outgoing/shares/in-shares.ts'

/** How long streams may begin in one turn of the loop, in ms. */
const shareMs = 8

/**
 * Begins streams at once, or in turns of their own when others took this turn's share: a stream reads a page of its log as
 * it begins, and the requests for hundreds may come in one turn of the loop.
 */
export class StartShares {
  /** When the first stream of this turn of the loop began; null before it. */
  #since: number | null = null
  readonly #turnIsOver = (): void => {
    this.#since = null
  }

  /** @param contain runs what begins later: no request is there any more that its throw would end. */
  start(begin: () => void, contain: (work: () => void) => void): void {
    if (this.#since === null) {
      this.#since = performance.now()
      setImmediate(this.#turnIsOver)
    } else if (performance.now() - this.#since > shareMs) {
      void nextShare().then(() => contain(begin))
      return
    }
    begin()
  }
}
