import { findChromium } from '#scripts/services/chromium.ts'
import { say } from '#scripts/services/command.ts'
import { findHeadlessShell } from '#scripts/services/headless-shell.ts'

/**
 * Gives browser tests a Chromium as `CHROMIUM_PATH`. Without one they are skipped, but never in CI. Tests of what is not the browser's
 * own use its headless shell, `HEADLESS_SHELL_PATH`, where there is one (specs/decisions/0202-headless-shell-in-tests.md): not when a
 * browser is given, nor where everything is tested, as each night.
 */
export async function setup(): Promise<void> {
  const isGiven = (process.env.CHROMIUM_PATH ?? '') !== ''
  const path = findChromium()
  if (path !== null) {
    process.env.CHROMIUM_PATH = path
    const shell = isGiven || process.env.EVERY_STORE !== undefined ? null : await findHeadlessShell()
    process.env.HEADLESS_SHELL_PATH = shell ?? path
    return
  }
  const advice = 'no Chromium found: install one or set CHROMIUM_PATH'
  if (process.env.CI !== undefined) throw new Error(advice)
  say(`${advice}; browser tests are skipped`)
}
