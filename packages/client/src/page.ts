import { asPage } from './schema.ts'

/** What a browser offers beyond a server's runtime; each of it may be missing. */
export interface Page {
  readonly document?: {
    readonly hidden: boolean
    addEventListener(name: 'visibilitychange', listener: () => void): void
  }
  readonly navigator?: {
    readonly onLine?: boolean
    readonly locks?: { request<T>(name: string, work: () => Promise<T>): Promise<T> }
  }
  readonly localStorage?: {
    getItem(key: string): string | null
    setItem(key: string, value: string): void
  }
  addEventListener?(name: 'online' | 'offline', listener: () => void): void
  requestAnimationFrame?(work: () => void): number
}

/** The page that this code runs in, or a server, where nothing of it exists. */
export const page: Page = asPage(globalThis)

/** Whether this code runs in a page, whose source everyone can read. */
export const isPage = (): boolean => page.document !== undefined

/** Why waiting work should look again: the network is back, the page is shown again, the network is gone. */
export type Wake = 'online' | 'visible' | 'offline'

const wakers = new Set<(wake: Wake) => void>()
let listens = false

/** Calls the listener when the network or the page comes back. @returns a function that ends it. */
export const onWake = (listener: (wake: Wake) => void): (() => void) => {
  wakers.add(listener)
  if (!listens) {
    listens = true
    const wake = (why: Wake) => () => {
      for (const each of [...wakers]) each(why)
    }
    page.addEventListener?.('online', wake('online'))
    page.addEventListener?.('offline', wake('offline'))
    const shown = wake('visible')
    page.document?.addEventListener('visibilitychange', () => page.document?.hidden || shown())
  }
  return () => wakers.delete(listener)
}

/** Waits, at most until the signal aborts, the network is back or the page is shown again. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      stopListening()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    const stopListening = onWake((wake) => wake === 'offline' || end())
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })

/** Runs the work before the next paint; a hidden page paints nothing, so there after 16 ms. */
export const nextFrame = (work: () => void): void => {
  if (page.requestAnimationFrame !== undefined && page.document?.hidden === false) page.requestAnimationFrame(work)
  else setTimeout(work, 16)
}

/** A delay in ms before the next of some attempts, of which the first waits not at all: doubled, with jitter. */
export const backOff = (tries: number, maxMs: number): number =>
  tries === 0 ? 0 : Math.min(50 * 2 ** Math.min(tries, 16), maxMs) * (0.5 + Math.random() / 2)
