/** Time and timers, injected so that a simulation can own them. */
export interface Clock {
  /** ms since the epoch. */
  now(): number
  /** Calls `work` once after `ms`; the returned function cancels it. */
  after(ms: number, work: () => void): () => void
  /** Calls `work` at the end of this loop turn, after everything that is ready now. */
  soon(work: () => void): void
}

/** The machine's clock. Its timers keep no process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, work) => {
    const timer = setTimeout(work, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
  soon: (work) => {
    setImmediate(work)
  },
}

/** Resolves after `ms`, or at once when `signal` aborts. */
export const pause = (clock: Clock, ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const cancel = clock.after(ms, resolve)
    signal?.addEventListener(
      'abort',
      () => {
        cancel()
        resolve()
      },
      { once: true },
    )
  })

/** Delay before attempt `attempt` (0, 1, 2 …) of something that failed: doubles from `firstMs` up to `mostMs`. */
export const backoffMs = (attempt: number, firstMs: number, mostMs: number): number =>
  Math.min(mostMs, firstMs * 2 ** Math.min(attempt, 30))
