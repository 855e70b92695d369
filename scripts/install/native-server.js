import { join } from 'node:path'
import { folderOf, keepVerified, projectFile, root } from './native-package.js'
import { unpackVerified } from './verified-package.js'

/*
 * `postinstall`: installs the native HTTP server if npm has left it out. Its package requires Node 22 in `engines`, so
 * npm silently skips it when npm itself runs on another Node than the scripts (specs/decisions/0116-platforms.md). The
 * package is unpacked only if its hash is that of package-lock.json, as npm ci verifies all others. On platforms other
 * than Linux x86-64 with glibc, and on other majors of Node, the server uses node:http.
 */
const name = 'uWebSockets.js'
const instead = 'node:http serves, at half the speed.'
const hasBuild =
  process.platform === 'linux' &&
  process.arch === 'x64' &&
  process.versions.node.startsWith('22.') &&
  process.report.getReport().header.glibcVersionRuntime !== undefined

/** Installs the package. Returns why that failed; null when it is there. */
const install = () => {
  const locked = projectFile('package-lock.json')?.packages[`node_modules/${name}`]
  if (locked?.integrity === undefined) return 'there is no package-lock.json to verify it against'
  return unpackVerified(locked, join(root, 'node_modules', name))
}

if (hasBuild && folderOf(name) === null) {
  const failure = install()
  if (failure !== null)
    process.stdout.write(`The native HTTP server was not installed, because ${failure}: ${instead}\n`)
}
keepVerified(name, instead)
