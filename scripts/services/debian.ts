import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { onPath, runCommand, say } from './command.ts'
import { cache, publish } from './wheels.ts'

/** apt options: a mirror may be unavailable for a moment, and another process may hold dpkg's lock. */
const patience = ['-o', 'Acquire::Retries=5', '-o', 'DPkg::Lock::Timeout=120']

/** Installs a Debian package if this process may (root with apt-get). Returns whether the installation succeeded. */
export function installDebianPackage(name: string, aptGet: string | null): boolean {
  if (aptGet === null || process.getuid?.() !== 0) return false
  say(`installing the Debian package ${name} (once)`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  try {
    runCommand(aptGet, [...patience, 'update', '-qq'], env)
    runCommand(aptGet, [...patience, 'install', '-y', '-qq', '--no-install-recommends', name], env)
    return true
  } catch (error) {
    say(`${name} could not be installed: ${error instanceof Error ? error.message : String(error)}`)
    return false
  }
}

/**
 * Unpacks Debian packages into a folder of `.cache`, once; nothing is installed into the system.
 *
 * @returns the folder, as `/` of the packages.
 * @throws {Error} where there is no apt-get, or no such package.
 */
export function unpackDebianPackages(name: string, packages: readonly string[]): string {
  const target = join(cache, name)
  if (existsSync(target)) return target
  const aptGet = onPath('apt-get')
  if (aptGet === null) throw new Error('there is no apt-get')
  say(`unpacking the Debian packages of ${name} into .cache (once)`)
  mkdirSync(cache, { recursive: true })
  const draft = mkdtempSync(join(cache, 'draft-'))
  const archives = mkdtempSync(join(cache, 'draft-'))
  try {
    // several processes may begin at once, of which one may read the lists of packages
    const update = 'test "$(id -u)" != 0 || flock "$1" apt-get update -qq'
    const download = 'cd "$0" && lock="$1" && shift && apt-get download -qq "$@"'
    runCommand('sh', [
      '-c',
      `${download} || { set -- "$lock" "$@"; ${update}; shift; apt-get download -qq "$@"; }`,
      archives,
      join(cache, 'apt.lock'),
      ...packages,
    ])
    for (const archive of readdirSync(archives)) runCommand('dpkg-deb', ['-x', join(archives, archive), draft])
    publish(draft, target)
  } finally {
    for (const folder of [draft, archives]) rmSync(folder, { recursive: true, force: true })
  }
  return target
}
