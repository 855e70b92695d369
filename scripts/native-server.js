import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/*
 * `postinstall`: installs the native HTTP server if npm has left it out. Its package requires Node 22 in `engines`, so
 * npm silently skips it when npm itself runs on another Node. The Node that this project installs is 22, and runs npm
 * again for the missing package (specs/decisions/0116-platforms.md). On platforms other than Linux x86-64 with glibc,
 * the server uses node:http.
 */
const { npm_execpath: npm } = process.env
const hasBuild =
  process.platform === 'linux' &&
  process.arch === 'x64' &&
  process.versions.node.startsWith('22.') &&
  process.report.getReport().header.glibcVersionRuntime !== undefined

const isThere = () => {
  try {
    createRequire(import.meta.url).resolve('uWebSockets.js')
    return true
  } catch {
    return false
  }
}

if (hasBuild && npm?.endsWith('.js') && !isThere()) {
  const { optionalDependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const wanted = `uWebSockets.js@${optionalDependencies['uWebSockets.js']}`
  const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund']
  const { status } = spawnSync(process.execPath, [npm, 'install', ...options, wanted], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0 || !isThere())
    process.stdout.write('The native HTTP server was not installed: node:http serves, at half the speed.\n')
}
