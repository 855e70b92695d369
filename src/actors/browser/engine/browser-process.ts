import { randomUUID } from 'node:crypto'
import type { Browser } from 'playwright'
import { browserFlags } from './browser-flags.ts'
import { isDoneWithin } from './done-within.ts'
import { processTree } from './process-tree.ts'
import { VisitFailed } from './visit-failed.ts'

/** Options of a browser to start. */
export interface BrowserOptions {
  readonly path: string
  /** The id of the job, to find its processes by. */
  readonly mark: string
  /** Memory limit in bytes. A browser that exceeds it is terminated. */
  readonly maxMemoryBytes: number
  /** Called when the browser has exceeded its memory limit. */
  readonly onTooLarge: () => void
}

/** A running browser, which serves one job. */
export interface RunningBrowser {
  readonly browser: Browser
  /** Highest memory use that was measured, in bytes; null when this platform cannot measure it. */
  peakBytes(): number | null
  /** Terminates the browser; resolves when none of its processes is left. Never rejects. */
  close(): Promise<void>
}

const launchMs = 60_000
const closeMs = 2_000
const pollMs = 500

/** Starts a separate browser. @throws {VisitFailed} `browser_unavailable` */
export const startBrowser = async (options: BrowserOptions): Promise<RunningBrowser> => {
  // another process of this machine may have begun the job again, whose browser must not be taken for this one
  const mark = `--troupe-job=${options.mark}.${randomUUID()}`
  const { chromium } = await import('playwright')
  const browser = await chromium
    .launch({
      executablePath: options.path,
      headless: true,
      args: [...browserFlags, mark],
      // Chromium's sandbox does not work for root
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

/** Returns the environment of a browser, without the secrets in the environment of this process. */
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
  // a measurement that takes long is not overlapped by the next one
  let isChecking = false
  const check = async (): Promise<void> => {
    if (isChecking) return
    isChecking = true
    const tree = await processTree(mark, known)
    isChecking = false
    if (tree === null) return
    known = tree.pids
    watch.peak = Math.max(watch.peak ?? 0, tree.bytes)
    if (tree.bytes <= maxMemoryBytes) return
    watch.stop()
    onTooLarge()
    await killAll(mark)
  }
  const timer = setInterval(() => void check(), pollMs)
  timer.unref()
  watch.stop = () => clearInterval(timer)
  void check()
  return watch
}

/** Kills the remaining processes of a browser. */
const killAll = async (mark: string): Promise<void> => {
  for (let tries = 0; tries < 20; tries++) {
    const tree = await processTree(mark)
    if (tree === null || tree.pids.length === 0) return
    for (const pid of tree.pids) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // it has ended in the meantime
      }
    }
    await pauseMs(50)
  }
}

const pauseMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref())
