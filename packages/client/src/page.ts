import { asFields } from './schema.ts'

/** What a browser offers beyond a server's runtime; each of it may be missing. */
export interface Page {
  readonly document?: { readonly hidden: boolean }
  readonly navigator?: {
    readonly onLine?: boolean
    readonly locks?: { request<T>(name: string, work: () => Promise<T>): Promise<T> }
  }
  readonly caches?: { open(name: string): Promise<CallStore> }
  addEventListener?(name: Change, listener: () => void, options: { readonly signal: AbortSignal }): void
  requestAnimationFrame?(work: () => void): number
}

/** A cache of a browser, which all tabs of an origin share. */
export interface CallStore {
  keys(): Promise<readonly Request[]>
  match(key: Request | string): Promise<Response | undefined>
  put(key: string, value: Response): Promise<void>
  delete(key: Request): Promise<boolean>
}

/** The page that this code runs in, or a server, where nothing of it exists. */
export const page = asFields<Page>(globalThis)

/** Whether this code runs in a page, whose source everyone can read. */
export const isPage = (): boolean => page.document !== undefined

/** What changes around a page: its network, and whether it is shown. */
type Change = 'online' | 'offline' | 'visibilitychange'

/** Calls the listener after changes, until the signal aborts. */
export const onChange = (changes: readonly Change[], listener: () => void, signal: AbortSignal): void => {
  for (const change of changes) page.addEventListener?.(change, listener, { signal })
}

/** Waits, at most until the signal aborts, the network is back or the page is shown again. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const over = new AbortController()
    const end = () => {
      over.abort()
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(end, ms)
    onChange(['online', 'visibilitychange'], end, over.signal)
    signal?.addEventListener('abort', end, over)
    if (signal?.aborted) end()
  })

/** Runs the work before the next paint; a hidden page paints nothing, so there after 16 ms, and on a server soon. */
export const nextFrame = (work: () => void): void => {
  if (page.document?.hidden === false) page.requestAnimationFrame?.(work)
  else setTimeout(work, page.document && 16)
}

/**
 * A delay in ms before the next of some attempts, of which the first waits not at all: doubled up to 300 ms, with jitter;
 * up to 5 s after some minute and a half.
 */
export const backOff = (tries: number): number =>
  tries && Math.min(50 * 2 ** tries, tries > 399 ? 5000 : 300) * (1 - Math.random() / 2)

/** Waits before the next of some attempts, at least as long as the error says. */
export const beforeNext = (
  tries: number,
  error?: { readonly retryAfterMs: number } | null,
  signal?: AbortSignal,
): Promise<void> => pause(Math.max(backOff(tries), error?.retryAfterMs ?? 0), signal)
