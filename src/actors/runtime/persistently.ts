import { StoreUnavailable } from '#storage/ports.ts'
import { backoffMs, type Clock, pause } from './clock.ts'

const firstMs = 100
const maxMs = 2_000

/**
 * Returns the result of `work`, retrying while the store is unavailable. An effect stores so what a provider, a browser or a
 * person has done for it: an effect that throws runs again in full, for as long as the store is away.
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
