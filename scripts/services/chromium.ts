import { existsSync } from 'node:fs'
import { onPath } from './command.ts'
import { installDebianPackage } from './debian.ts'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'] as const

/**
 * Finds a Chromium for browser tests: CHROMIUM_PATH, else one on PATH, else Debian's package if this process may
 * install it.
 *
 * @returns its path; null when there is none and none can be installed.
 * @throws {Error} when CHROMIUM_PATH is not an existing file.
 */
export function findChromium(): string | null {
  const given = process.env.CHROMIUM_PATH
  if (given !== undefined && given !== '') {
    if (!existsSync(given)) throw new Error(`CHROMIUM_PATH names no file: ${given}`)
    return given
  }
  return installedChromium() ?? installed()
}

/** The Chromium on PATH; null for none. */
export const installedChromium = (): string | null => onPath(...names)

const installed = (): string | null =>
  installDebianPackage('chromium', onPath('apt-get')) ? installedChromium() : null
