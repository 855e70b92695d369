import { runCommand, say } from './command.ts'

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
