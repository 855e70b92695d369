/**
 * Processes all items, at most `lanes` at a time, and returns the results in order. The first failure aborts the
 * others.
 *
 * @param work receives a signal that aborts with `signal`, and when another item has failed.
 */
export async function inLanes<T, R>(
  items: readonly T[],
  { lanes, signal }: { readonly lanes: number; readonly signal: AbortSignal },
  work: (item: T, signal: AbortSignal) => Promise<R>,
): Promise<readonly R[]> {
  const [only] = items
  if (items.length === 1 && only !== undefined) return [await work(only, signal)]
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const results = new Map<number, R>()
  const entries = items.entries()
  const lane = async (): Promise<void> => {
    for (const [place, item] of entries) {
      if (either.aborted) return
      results.set(place, await work(item, either))
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane))
  } catch (error) {
    failed.abort()
    throw error
  }
  return [...results].sort(([a], [b]) => a - b).map(([, result]) => result)
}
