/** How often the library's own ten-second limit is put off for a reader that takes nothing. */
const nudgeMs = 4_000

/** A writer that is looked after while its reader takes nothing. */
export interface Stalled {
  /** @param now `performance.now()` */
  nudge(now: number): void
}

/** The writers whose readers take nothing just now, under one timer that runs only while there are some. */
export class StalledWriters {
  readonly #writers = new Set<Stalled>()
  #timer: NodeJS.Timeout | null = null

  add(writer: Stalled): void {
    this.#writers.add(writer)
    this.#timer ??= setInterval(() => this.#tick(), nudgeMs).unref()
  }

  delete(writer: Stalled): void {
    if (!this.#writers.delete(writer) || this.#writers.size > 0) return
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #tick(): void {
    const now = performance.now()
    for (const writer of this.#writers) writer.nudge(now)
  }
}
