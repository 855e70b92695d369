import { existsSync } from 'node:fs'
import { driverMissing, hasBrowserDriver } from '#actors/browser/engine/find-chromium.ts'
import type { Config } from '#src/config.ts'
import { loadUws } from '#transport/http/uws/uws-binding.ts'
import { installedChromium } from '../services/chromium.ts'
import { type Finding, failed, ok, reasonOf, warning } from './finding.ts'

/** First version that strips types without a flag. */
const oldestNode = [22, 18] as const

/** @param version version, in the format of `process.versions.node`. */
export const checkNode = (version: string = process.versions.node): Finding => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const fits = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])
  if (fits) return ok('node', `version ${version}`)
  return failed('node', `version ${version}`, 'Use 22.18 or newer: `npm ci` brings it, and npm scripts use it.')
}

/** @param load loads the native HTTP server; throws when it has no build for this machine. */
export const checkUws = (load: () => unknown = loadUws): Finding => {
  try {
    load()
    return ok('uwebsockets', 'the native HTTP server loads')
  } catch (error) {
    const advice = 'The server uses node:http instead, at half the speed. On Linux x86-64, run `npm ci` to install it.'
    return warning('uwebsockets', `cannot be loaded: ${reasonOf(error).split('\n')[0]}`, advice)
  }
}

/** Only looks for Chromium, and installs nothing. */
export const checkChromium = (
  { chromiumPath }: Pick<Config, 'chromiumPath'>,
  onPath: () => string | null = installedChromium,
): Finding => {
  if (!hasBrowserDriver())
    return warning('chromium', driverMissing, 'Install it next to the server: npm install --save-exact playwright.')
  if (chromiumPath !== null) {
    if (existsSync(chromiumPath)) return ok('chromium', chromiumPath)
    return failed('chromium', `CHROMIUM_PATH is not a file: ${chromiumPath}`, 'Correct it, or unset it.')
  }
  const found = onPath()
  if (found !== null) return ok('chromium', found)
  const advice =
    'Install Chromium, or set CHROMIUM_PATH. A checkout without NODE_ENV=production fetches one at the first job.'
  return warning('chromium', 'none found, which browser jobs require', advice)
}
