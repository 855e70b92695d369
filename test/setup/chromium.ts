import { findChromium } from '#scripts/services/chromium.ts'
import { say } from '#scripts/services/command.ts'
import { findHeadlessShell } from '#scripts/services/headless-shell.ts'

/**
 * Provides a Chromium to browser tests as `CHROMIUM_PATH`. Without one they are skipped, but never in CI. Tests that do not
 * need the full browser use its headless shell, `HEADLESS_SHELL_PATH`, if available
 * (specs/decisions/0103-time-of-ci.md), except when a browser is given or with EVERY_STORE, as each night.
 */
export function setup(): void {
  const isGiven = (process.env.CHROMIUM_PATH ?? '') !== ''
  const path = findChromium()
  if (path !== null) {
    process.env.CHROMIUM_PATH = path
    const shell = isGiven || process.env.EVERY_STORE !== undefined ? null : findHeadlessShell()
    process.env.HEADLESS_SHELL_PATH = shell ?? path
    return
  }
  const advice = 'no Chromium found: install one or set CHROMIUM_PATH'
  if (process.env.CI !== undefined) throw new Error(advice)
  say(`${advice}; browser tests are skipped`)
}
