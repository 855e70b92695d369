import type { Clock } from '../runtime/index.ts'

/**
 * Deltas are committed once this many ms have passed since the last commit, or this many deltas have arrived
 * (ARCHITECTURE.md).
 */
const everyMs = 25
const everyDeltas = 32

/**
 * Batches the deltas of a stream into commits: the first at once, then one every 25 ms or 32 deltas, and never two at a
 * time. Deltas that arrive in one turn of the event loop share a commit.
 */
export class DeltaJournal {
  readonly #write: (text: string) => Promise<void>
  readonly #clock: Clock
  #text = ''
  #deltas = 0
  #writing: Promise<void> | undefined
  #nextAt = 0
  #cancel: (() => void) | undefined
  #planned = false
  #ended = false

  constructor(write: (text: string) => Promise<void>, clock: Clock) {
    this.#write = write
    this.#clock = clock
  }

  /** Adds a delta to the next commit. */
  add(text: string): void {
    this.#text += text
    this.#deltas++
    if (!this.#ended && this.#writing === undefined) this.#plan()
  }

  /** Stops writing. Resolves with the text that is not yet written, after a write in progress has finished. */
  async end(): Promise<string> {
    this.#ended = true
    this.#cancel?.()
    if (this.#writing !== undefined) await this.#writing
    return this.#text
  }

  #plan(): void {
    const waitMs = this.#nextAt - this.#clock.steady()
    if (waitMs <= 0 || this.#deltas >= everyDeltas) {
      this.#cancel?.()
      this.#cancel = undefined
      if (this.#planned) return
      this.#planned = true
      this.#clock.soon(() => this.#flush())
    } else {
      this.#cancel ??= this.#clock.after(waitMs, () => this.#flush())
    }
  }

  #flush(): void {
    this.#planned = false
    this.#cancel = undefined
    if (this.#ended || this.#text === '' || this.#writing !== undefined) return
    const text = this.#text
    this.#text = ''
    this.#deltas = 0
    this.#nextAt = this.#clock.steady() + everyMs
    this.#writing = this.#write(text).finally(() => {
      this.#writing = undefined
      if (!this.#ended && this.#text !== '') this.#plan()
    })
  }
}
