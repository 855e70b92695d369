import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const root = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)

/** Runs npm with this process's Node. */
const npm = async (folder: string, ...args: readonly string[]): Promise<string> =>
  (await run('npm', [...args], { cwd: folder, env: { ...process.env, npm_config_update_notifier: 'false' } })).stdout

/** Packs packages, one after the other, and returns the paths of the tarballs. */
export const packed = async (...names: readonly string[]): Promise<readonly string[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'packed-'))
  const files: string[] = []
  for (const name of names) {
    const printed = await npm(join(root, 'packages', name), 'pack', '--silent', '--pack-destination', folder)
    files.push(join(folder, printed.trim().split('\n').at(-1) ?? ''))
  }
  return files
}

/** Makes an empty project outside of this one, and installs tarballs and packages in it. */
export const stranger = async (...install: readonly string[]): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'stranger-'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--legacy-peer-deps', '--silent']
  await npm(folder, 'install', ...options, ...install)
  return folder
}

/** Lends a package of this project to a stranger's, which has installed it at the same version. */
export const lend = (folder: string, name: string): void => {
  const path = join(folder, 'node_modules', name)
  // lent before, by a test that is repeated
  rmSync(path, { force: true })
  symlinkSync(join(root, 'node_modules', name), path)
}

/** Path of a file of this project. */
export const ours = (path: string): string => join(root, path)
