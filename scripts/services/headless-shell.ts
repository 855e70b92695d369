import { spawnSync } from 'node:child_process'
import { createReadStream, createWriteStream, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress } from 'node:zlib'
import { onPath, say } from './command.ts'

const root = resolve(import.meta.dirname, '../..')
const installed = join(root, 'node_modules/@sparticuz/chromium')

/**
 * Finds Chromium's headless shell: the same engine without the desktop browser around it, at less than half of the CPU
 * cost (specs/decisions/0103-time-of-ci.md). Uses the one on PATH, else that of `@sparticuz/chromium`,
 * unpacked once.
 *
 * @returns its path; null when there is none, or none that starts on this machine.
 */
export async function findHeadlessShell(): Promise<string | null> {
  const path = onPath('chromium-headless-shell') ?? (await unpacked())
  return path !== null && spawnSync(path, ['--version']).status === 0 ? path : null
}

async function unpacked(): Promise<string | null> {
  const packed = join(installed, 'bin/chromium.br')
  if (!existsSync(packed)) return null
  const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  const folder = join(root, '.vitest')
  const path = join(folder, `headless-shell-${version}`)
  if (existsSync(path)) return path
  mkdirSync(folder, { recursive: true })
  // another process may unpack it too, so it appears atomically
  const part = `${path}.${process.pid}`
  try {
    await pipeline(createReadStream(packed), createBrotliDecompress(), createWriteStream(part, { mode: 0o755 }))
    renameSync(part, path)
    return path
  } catch (error) {
    rmSync(part, { force: true })
    say(`the headless shell could not be unpacked: ${error instanceof Error ? error.message : String(error)}`)
    return null
  }
}
