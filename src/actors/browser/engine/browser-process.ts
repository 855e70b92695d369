import type { Browser } from 'playwright'
import { isDoneWithin } from './done-within.ts'
import { processTree } from './process-tree.ts'
import { VisitFailed } from './visit-failed.ts'

/** How a browser is started. */
export interface BrowserOptions {
  readonly path: string
  /** The guarded proxy: all that the browser sends goes there. */
  readonly proxyUrl: string
  /** Distinguishes the processes of this browser from those of others: the id of its job. */
  readonly mark: string
  /** A browser that takes more is ended. */
  readonly maxMemoryBytes: number
  /** Called when the browser was ended for the memory that it took. */
  readonly onTooLarge: () => void
}

/** One browser, which serves one job. */
export interface RunningBrowser {
  readonly browser: Browser
  /** Most memory it was seen to take; null: not measured on this platform. */
  peakBytes(): number | null
  /** Ends it; resolves when none of its processes is left. Never rejects. */
  close(): Promise<void>
}

const launchMs = 60_000
const closeMs = 2_000
const lookMs = 500

/**
 * What keeps a browser from going anywhere but through the proxy: addresses of this machine go there too, names are resolved nowhere
 * else, QUIC and WebRTC send no datagrams. Workers shared between pages send requests that no page shows, so there are none.
 */
const guards = (proxyUrl: string): readonly string[] => [
  `--proxy-server=${proxyUrl}`,
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--disable-quic',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-blink-features=SharedWorker',
  '--dns-prefetch-disable',
  '--disable-background-networking',
  '--disk-cache-size=33554432',
  '--disable-gpu',
]

/** Starts a browser of its own. @throws {VisitFailed} `browser_unavailable` */
export const startBrowser = async (options: BrowserOptions): Promise<RunningBrowser> => {
  const mark = `--troupe-job=${options.mark}`
  const { chromium } = await import('playwright')
  const browser = await chromium
    .launch({
      executablePath: options.path,
      headless: true,
      args: [...guards(options.proxyUrl), mark],
      // Chromium's own sandbox needs a user who is not root
      chromiumSandbox: process.getuid?.() !== 0 && process.env.CHROMIUM_SANDBOX !== 'off',
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      timeout: launchMs,
      env: ownEnvironment(),
    })
    .catch((error: unknown) => {
      throw new VisitFailed('browser_unavailable', 'The browser does not start on this server.', error)
    })
  const watch = watchMemory(mark, options)
  return {
    browser,
    peakBytes: () => watch.peak,
    close: async () => {
      watch.stop()
      await isDoneWithin(closeMs, browser.close())
      await killAll(mark)
    },
  }
}

/** Secrets of this process are none of the browser's. */
const ownEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    ['PATH', 'HOME', 'TMPDIR', 'LANG', 'FONTCONFIG_PATH', 'LD_LIBRARY_PATH'].flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )

const watchMemory = (mark: string, { maxMemoryBytes, onTooLarge }: BrowserOptions) => {
  const watch: { peak: number | null; stop: () => void } = { peak: null, stop: () => {} }
  let known: readonly number[] = []
  // where a look takes long, the next one waits for its turn
  let isLooking = false
  const look = async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    const tree = await processTree(mark, known)
    isLooking = false
    if (tree === null) return
    known = tree.pids
    watch.peak = Math.max(watch.peak ?? 0, tree.bytes)
    if (tree.bytes <= maxMemoryBytes) return
    watch.stop()
    onTooLarge()
    await killAll(mark)
  }
  const timer = setInterval(() => void look(), lookMs)
  timer.unref()
  watch.stop = () => clearInterval(timer)
  void look()
  return watch
}

/** Ends what is left of a browser at once. */
const killAll = async (mark: string): Promise<void> => {
  for (let tries = 0; tries < 20; tries++) {
    const tree = await processTree(mark)
    if (tree === null || tree.pids.length === 0) return
    for (const pid of tree.pids) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // it has ended meanwhile
      }
    }
    await pauseMs(50)
  }
}

const pauseMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref())
