import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pipArguments, runCommand, say } from './command.ts'
import { publish } from './wheels.ts'

const cache = resolve(import.meta.dirname, '../../.cache')

/**
 * Installs Python packages with their dependencies, each pinned by version and SHA-256, into a separate folder under
 * `.cache` (no root, nothing installed into the system). New pins or another Python version use a new folder.
 *
 * @param name name of the installation, for the folder and the message
 * @param requirements path of the file with the pins
 * @returns the folder, for PYTHONPATH.
 * @throws {Error} when there is no python3 with pip, the index cannot be reached or a hash differs.
 */
export const installPythonPackages = (name: string, requirements: string): string => {
  const pins = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12)
  // Python's tools recognise third-party code by this folder name: otherwise Hypothesis would scan all of it for
  // constants
  const target = join(cache, `${name}-${pins}-${pythonVersion()}`, 'site-packages')
  if (existsSync(target)) return target
  say(`installing ${name} from Python wheels into .cache (once)`)
  mkdirSync(dirname(target), { recursive: true })
  const draft = mkdtempSync(join(cache, 'draft-'))
  try {
    // Python compiles modules when they are imported; compiling all of them takes as long as the rest of the
    // installation
    const pip = [...pipArguments('install'), '--require-hashes', '--no-compile']
    runCommand('python3', [...pip, '--requirement', requirements, '--target', draft])
    publish(draft, target)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return target
}

const pythonVersion = (): string => {
  const args = ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])']
  return spawnSync('python3', args, { encoding: 'utf8' }).stdout?.trim() || 'unknown'
}
