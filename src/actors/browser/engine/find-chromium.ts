import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chromium-headless-shell']
const places = [
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

const fetchTimeoutMs = 120_000

/** Thrown when this machine has no browser, or the configured one does not exist. */
export class ChromiumMissing extends Error {
  override readonly name = 'ChromiumMissing'
}

/**
 * Returns the path of a Chromium: the configured one, or one on the PATH (Debian's, Chrome), or Chrome in its usual
 * folder, or in a checkout the one that its first browser job fetches.
 *
 * @throws {ChromiumMissing} with a message on how to fix it
 */
export const findChromium = async (configured: string | null): Promise<string> => {
  if (!hasBrowserDriver()) throw new ChromiumMissing(driverMissing)
  if (configured !== null) {
    if (isProgram(configured)) return configured
    throw new ChromiumMissing(`CHROMIUM_PATH is not an executable: ${configured}`)
  }
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const onPath = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  const found = [...onPath, ...places].find(isProgram) ?? (await fetched())
  if (found !== null) return found
  throw new ChromiumMissing('No Chromium was found: install one, or set CHROMIUM_PATH.')
}

/** Why there are no browser jobs where the package has been installed without its optional part. */
export const driverMissing = 'Browser jobs need the package playwright, which is not installed'

/** Whether the package is installed with which browsers are driven. */
export const hasBrowserDriver = (): boolean => {
  try {
    createRequire(import.meta.url).resolve('playwright')
    return true
  } catch {
    return false
  }
}

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const shellScript = fileURLToPath(new URL('../../../../scripts/install/headless-shell.js', import.meta.url))
let shell: Promise<string | null> | null = null

/** Returns the browser that a checkout fetches with npm at the first call of a process; null in production. */
const fetched = (): Promise<string | null> => {
  if (process.env.NODE_ENV === 'production' || !existsSync(shellScript)) return Promise.resolve(null)
  shell ??= fetchShell()
  return shell
}

const fetchShell = async (): Promise<string | null> => {
  // a caller waits for it
  const env = { ...process.env, npm_config_fetch_retries: '0' }
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [shellScript], { env, timeout: fetchTimeoutMs })
    return stdout.trim()
  } catch {
    return null
  }
}
