import { type Clock, pause } from '#runtime/index.ts'
import { backoffMs } from '#runtime/internal.ts'
import { StoreUnavailable } from '#storage/index.ts'

const firstMs = 100
const maxMs = 2_000

/**
 * Returns the result of `work`, retrying while the store is unavailable: the outcome of a browser must be neither lost
 * nor repeated for that reason.
 */
export const persistently = async <T>(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> => {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || signal.aborted) throw error
      await pause(clock, backoffMs(attempt, firstMs, maxMs), signal)
    }
  }
}
