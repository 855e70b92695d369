import { runCommand, say } from './command.ts'

/** Installs a Debian package when this process may (root with apt-get); answers whether it is installed now. */
export function installDebianPackage(name: string, aptGet: string | null): boolean {
  if (aptGet === null || process.getuid?.() !== 0) return false
  say(`installing the Debian package ${name} (once)`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  try {
    runCommand(aptGet, ['update', '-qq'], env)
    runCommand(aptGet, ['install', '-y', '-qq', '--no-install-recommends', name], env)
    return true
  } catch (error) {
    say(`${name} could not be installed: ${error instanceof Error ? error.message : String(error)}`)
    return false
  }
}
