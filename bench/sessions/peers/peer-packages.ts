import { copyFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { npmPackages } from '#scripts/services/npm-packages.ts'

/**
 * Installs the packages of a suite of test/ecosystem unless they are installed. @returns their folder `node_modules`.
 */
export async function installedPeer(suite: string): Promise<string> {
  const [packages] = (await npmPackages(suite)).resolve.paths(suite) ?? []
  if (packages === undefined) throw new Error(`the packages of ${suite} have no folder`)
  return packages
}

/** Copies a program of this folder to where it finds the packages of a peer. @returns its path. */
export function placed(program: string, folder: string, packages: string): string {
  const script = join(folder, program)
  copyFileSync(join(import.meta.dirname, program), script)
  symlinkSync(packages, join(folder, 'node_modules'))
  return script
}
