import { useEffect, useState } from '../html.js'

/**
 * Reads data for a key, once per key. `data` is null until it has arrived; after a failure, `error` is set instead.
 *
 * @template Data
 * @param {string} key '' for nothing to read
 * @param {(signal: AbortSignal) => Promise<Data>} read
 * @param {{ keep?: boolean }} [options] `keep`: what was read for the key before is shown meanwhile
 * @returns {{ data: Data | null, error: unknown, again: () => void }}
 */
export const useRead = (key, read, { keep = false } = {}) => {
  const [times, setTimes] = useState(0)
  const [found, setFound] = useState(
    /** @type {{ key: string, data: Data | null, error: unknown }} */ ({ key: '', data: null, error: null }),
  )
  useEffect(() => {
    if (key === '') return
    const abort = new AbortController()
    read(abort.signal).then(
      (data) => abort.signal.aborted || setFound({ key, data, error: null }),
      (error) => abort.signal.aborted || setFound((before) => ({ key, data: keep ? before.data : null, error })),
    )
    return () => abort.abort()
  }, [key, times])
  const again = () => setTimes((before) => before + 1)
  return found.key === key || keep ? { ...found, again } : { data: null, error: null, again }
}
