import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { folderOf, keepVerified, projectFile } from './native-package.js'

/*
 * `postinstall`: installs the native HTTP server if npm has left it out. Its package requires Node 22 in `engines`, so
 * npm silently skips it when npm itself runs on another Node. The Node that this project installs is 22, and downloads
 * the missing package with npm (specs/decisions/0116-platforms.md). The package is unpacked only if its hash is that of
 * package-lock.json, as npm ci verifies all others. On platforms other than Linux x86-64 with glibc, the server uses
 * node:http.
 */
const name = 'uWebSockets.js'
const instead = 'node:http serves, at half the speed.'
const { npm_execpath: npm } = process.env
const hasBuild =
  process.platform === 'linux' &&
  process.arch === 'x64' &&
  process.versions.node.startsWith('22.') &&
  process.report.getReport().header.glibcVersionRuntime !== undefined

/** Downloads the package of the lock file into a folder. Returns the archive; null when npm cannot. */
const downloaded = ({ name: real, version }, folder) => {
  const options = ['--pack-destination', folder, '--ignore-scripts', '--no-audit', '--no-fund']
  const { status } = spawnSync(process.execPath, [npm, 'pack', `${real}@${version}`, ...options], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [file] = readdirSync(folder).filter((each) => each.endsWith('.tgz'))
  return status === 0 && file !== undefined ? join(folder, file) : null
}

const integrityOf = (archive) => `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`

const unpack = (archive) => {
  const place = fileURLToPath(new URL(`../node_modules/${name}`, import.meta.url))
  mkdirSync(place, { recursive: true })
  const { status } = spawnSync('tar', ['-xzf', archive, '-C', place, '--strip-components=1', '--no-same-owner'])
  if (status !== 0) rmSync(place, { recursive: true, force: true })
}

/** Installs the package. Returns why that failed; null when it is there. */
const install = () => {
  const locked = projectFile('package-lock.json')?.packages[`node_modules/${name}`]
  if (locked?.integrity === undefined) return 'there is no package-lock.json to verify it against'
  const folder = mkdtempSync(join(tmpdir(), 'native-server-'))
  try {
    const archive = downloaded(locked, folder)
    if (archive === null) return 'npm could not download it'
    if (integrityOf(archive) !== locked.integrity) return 'the download does not have the hash of package-lock.json'
    unpack(archive)
    return folderOf(name) === null ? 'tar could not unpack it' : null
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (hasBuild && npm?.endsWith('.js') && folderOf(name) === null) {
  const failure = install()
  if (failure !== null)
    process.stdout.write(`The native HTTP server was not installed, because ${failure}: ${instead}\n`)
}
keepVerified(name, instead)
