import { existsSync } from 'node:fs'
import type { Config } from '#src/config.ts'
import { loadUws } from '#transport/http/uws/uws-binding.ts'
import { installedChromium } from '../services/chromium.ts'
import { type Finding, failed, ok, reasonOf, warning } from './finding.ts'

/** Types are stripped without a flag from here on. */
const oldestNode = [22, 18] as const

/** @param version as `process.versions.node` says it. */
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
    const advice =
      'The server uses node:http instead, at half the speed. Run `npm ci` under Linux x86-64 for the other.'
    return warning('uwebsockets', `does not load: ${reasonOf(error).split('\n')[0]}`, advice)
  }
}

/** Looks only: it installs nothing. */
export const checkChromium = (
  { chromiumPath }: Pick<Config, 'chromiumPath'>,
  onPath: () => string | null = installedChromium,
): Finding => {
  if (chromiumPath !== null) {
    if (existsSync(chromiumPath)) return ok('chromium', chromiumPath)
    return failed('chromium', `CHROMIUM_PATH names no file: ${chromiumPath}`, 'Correct it, or leave it out.')
  }
  const found = onPath()
  if (found !== null) return ok('chromium', found)
  return warning('chromium', 'none found', 'Install one, or set CHROMIUM_PATH: what works in a browser needs it.')
}
