import { useEffect, useState } from '../html.ts'

/**
 * Reads data for a key, once per key. `data` is null until it has arrived; after a failure, `error` is set instead.
 *
 * @param key '' for nothing to read
 * @param options `keep`: what was read for the key before is shown meanwhile; `since`: it is read again when this is
 * another one
 */
export const useRead = <Data>(
  key: string,
  read: (signal: AbortSignal) => Promise<Data>,
  { keep = false, since }: { keep?: boolean; since?: unknown } = {},
): { data: Data | null; error: unknown; again: () => void } => {
  const [times, setTimes] = useState(0)
  const [found, setFound] = useState<{ key: string; data: Data | null; error: unknown }>({
    key: '',
    data: null,
    error: null,
  })
  useEffect(() => {
    if (key === '') return
    const abort = new AbortController()
    read(abort.signal).then(
      (data) => abort.signal.aborted || setFound({ key, data, error: null }),
      (error) => abort.signal.aborted || setFound((before) => ({ key, data: keep ? before.data : null, error })),
    )
    return () => abort.abort()
  }, [key, times, since])
  const again = () => setTimes((before) => before + 1)
  return found.key === key || keep ? { ...found, again } : { data: null, error: null, again }
}
