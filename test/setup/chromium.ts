import { findChromium } from '#scripts/services/chromium.ts'
import { say } from '#scripts/services/command.ts'

/** Gives browser tests a Chromium as `CHROMIUM_PATH`. Without one they are skipped, but never in CI. */
export function setup(): void {
  const path = findChromium()
  if (path !== null) {
    process.env.CHROMIUM_PATH = path
    return
  }
  const advice = 'no Chromium found: install one or set CHROMIUM_PATH'
  if (process.env.CI !== undefined) throw new Error(advice)
  say(`${advice}; browser tests are skipped`)
}
