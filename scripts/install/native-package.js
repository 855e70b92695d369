import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folder of the project. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The folder of an installed package; null when it is not installed. */
export const folderOf = (name) => {
  const folder = join(root, 'node_modules', name)
  return existsSync(join(folder, 'package.json')) ? folder : null
}

/** Reads a JSON file of the project; null when it does not exist. */
export const projectFile = (name) =>
  existsSync(join(root, name)) ? JSON.parse(readFileSync(join(root, name), 'utf8')) : null

/**
 * Removes an installed package with native code when a file differs from the recorded one, so that it is never loaded
 * (specs/decisions/0155-what-is-trusted.md).
 *
 * @returns {boolean} whether the package is there and as recorded.
 */
export const keepVerified = (name, instead) => {
  const folder = folderOf(name)
  if (folder === null) return false
  const { files } = projectFile('scripts/install/recorded-binaries.json')[name]
  const changed = Object.entries(files).find(([file, hash]) => sha256(join(folder, file)) !== hash)
  if (changed === undefined) return true
  rmSync(folder, { recursive: true, force: true })
  process.stdout.write(`${name} was removed, because its ${changed[0]} is not the recorded file: ${instead}\n`)
  return false
}

const sha256 = (path) => (existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : null)
