import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Downloads a package with npm, from the registry that npm is configured for, and unpacks it if its archive has the
 * expected hash (specs/decisions/0155-what-is-trusted.md). The folder appears only when it is complete.
 *
 * @param {{ name: string, version: string, integrity: string }} pinned
 * @param {string} folder
 * @param {readonly string[]} parts paths within the package; none: all of it.
 * @returns {string | null} why that failed; null when the folder is there.
 */
export const unpackVerified = (pinned, folder, parts = []) => {
  const downloads = mkdtempSync(join(tmpdir(), 'troupe-package-'))
  try {
    const archive = downloaded(pinned, downloads)
    if (archive === null) return 'npm could not download it'
    if (integrityOf(archive) !== pinned.integrity) return 'the download does not have the recorded hash'
    return unpack(archive, folder, parts) ? null : 'tar could not unpack it'
  } finally {
    rmSync(downloads, { recursive: true, force: true })
  }
}

/** Returns the archive; null when npm cannot download it. */
const downloaded = ({ name, version }, folder) => {
  const { npm_execpath: npm } = process.env
  // another package manager has no such command
  const [command, ...first] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm']
  const options = ['--pack-destination', folder, '--ignore-scripts', '--no-audit', '--no-fund']
  const { status } = spawnSync(command, [...first, 'pack', `${name}@${version}`, ...options], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [file] = readdirSync(folder).filter((each) => each.endsWith('.tgz'))
  return status === 0 && file !== undefined ? join(folder, file) : null
}

const integrityOf = (archive) => `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`

const unpack = (archive, folder, parts) => {
  const partial = `${folder}.${process.pid}`
  mkdirSync(partial, { recursive: true })
  const members = parts.map((part) => `package/${part}`)
  const options = ['-C', partial, '--strip-components=1', '--no-same-owner']
  const { status } = spawnSync('tar', ['-xzf', archive, ...options, ...members], { stdio: 'ignore' })
  if (status === 0) moved(partial, folder)
  rmSync(partial, { recursive: true, force: true })
  return status === 0 && existsSync(folder)
}

/** Another process may have been faster. */
const moved = (partial, folder) => {
  mkdirSync(dirname(folder), { recursive: true })
  try {
    renameSync(partial, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  }
}
