import { FairSemaphore } from './fair-semaphore.ts'

/**
 * Processes all items, at most `atOnce` at a time, and returns the results in order. The first failure aborts the
 * others.
 *
 * @param work receives a signal that aborts with `signal`, and when another item has failed.
 */
export async function concurrently<T, R>(
  items: readonly T[],
  { atOnce, signal }: { readonly atOnce: number; readonly signal: AbortSignal },
  work: (item: T, signal: AbortSignal) => Promise<R>,
): Promise<readonly R[]> {
  const [only] = items
  if (items.length === 1 && only !== undefined) return [await work(only, signal)]
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const turns = new FairSemaphore({ path: () => [], running: [atOnce] })
  const process = async (item: T): Promise<R> => {
    try {
      return await work(item, either)
    } catch (error) {
      failed.abort(error)
      throw error
    }
  }
  return Promise.all(items.map((item) => turns.run(null, () => process(item), failed.signal)))
}
