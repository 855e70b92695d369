import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'

export const root = resolve(import.meta.dirname, '../../..')

export const newFolder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'troupe-install-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** A checkout with the scripts of an install, and these JSON files. */
export const checkoutWith = (files: Readonly<Record<string, unknown>>): string => {
  const folder = newFolder()
  cpSync(join(root, 'scripts/install'), join(folder, 'scripts/install'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const [file, value] of Object.entries(files)) writeFileSync(join(folder, file), JSON.stringify(value))
  return folder
}

/** A package as npm would download it. @param fill writes its files into a folder. */
export const archiveOf = (fill: (folder: string) => void): string => {
  const folder = newFolder()
  mkdirSync(join(folder, 'package'))
  fill(join(folder, 'package'))
  const archive = join(folder, 'package.tgz')
  spawnSync('tar', ['-czf', archive, '-C', folder, 'package'])
  return archive
}

export const integrityOf = (file: string): string =>
  `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`

/** Runs a script of an install with an npm whose downloads are this archive; null: it cannot download. */
export const run = (folder: string, script: string, archive: string | null, options: readonly string[] = []) => {
  const npm = join(newFolder(), 'npm.js')
  const copy = `require('node:fs').copyFileSync(${JSON.stringify(archive)}, process.argv[process.argv.indexOf('--pack-destination') + 1] + '/p.tgz')`
  writeFileSync(npm, archive === null ? 'process.exit(1)' : copy)
  const env = { ...process.env, npm_execpath: npm }
  const args = [...options, join(folder, 'scripts/install', script)]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  return { status, printed: stdout, complaint: stderr }
}

export const isInstalled = (folder: string, what: string): boolean => existsSync(join(folder, 'node_modules', what))
