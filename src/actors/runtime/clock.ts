import { StoreUnavailable } from '#storage/ports.ts'

/** Time and timers, injected so that a simulation can own them. */
export interface Clock {
  /** ms since the epoch. */
  now(): number
  /** Monotonic time in ms from an arbitrary origin, for durations. Changes of the wall clock do not affect it. */
  steady(): number
  /** Calls `work` once after `ms`; the returned function cancels it. */
  after(ms: number, work: () => void): () => void
  /** Calls `work` at the end of this turn of the event loop, after everything that is already due. */
  soon(work: () => void): void
  /**
   * Calls `work` when the running code has ended, before anything more is read from the network. Absent:
   * `soon` is called, so that a simulation chooses what comes before.
   */
  next?(work: () => void): void
}

const resolved = Promise.resolve()

/** The system clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  after: (ms, work) => {
    const timer = setTimeout(work, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
  soon: (work) => {
    setImmediate(work)
  },
  // as a microtask: a tick of Node's makes an object, and a call from C++ for each read of a socket
  next: (work) => {
    void resolved.then(work)
  },
}

/** Resolves after `ms`, or at once when `signal` aborts. */
export const pause = (clock: Clock, ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      cancel()
      // a signal may outlast the pauses of hours
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(ms, end)
    signal?.addEventListener('abort', end)
  })

/**
 * Resolves or rejects with `promise`.
 * @throws {StoreUnavailable} when that takes longer than `ms`, so that a request never waits forever.
 */
export const within = async <T>(clock: Pick<Clock, 'after'>, ms: number, promise: Promise<T>): Promise<T> => {
  const late = Promise.withResolvers<never>()
  const cancel = clock.after(ms, () => late.reject(new StoreUnavailable('the store does not get on')))
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    cancel()
  }
}

/** Exponential back-off: the delay in ms before retry `attempt` (0, 1, 2 …), doubling from `firstMs` up to `maxMs`. */
export const backoffMs = (attempt: number, firstMs: number, maxMs: number): number =>
  Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30))
