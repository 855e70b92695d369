import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { onPath } from './command.ts'

const script = resolve(import.meta.dirname, '../install/headless-shell.js')

/**
 * Finds Chromium's headless shell: the same engine without the desktop browser around it, at less than half of the CPU
 * cost (specs/decisions/0103-time-of-ci.md). Uses the one on PATH, else the one in .cache, which the first call fetches.
 *
 * @returns its path; null when there is none, or none that starts on this machine.
 */
export const findHeadlessShell = (): string | null => {
  const path = onPath('chromium-headless-shell')
  if (path !== null && spawnSync(path, ['--version']).status === 0) return path
  const { status, stdout } = spawnSync(process.execPath, [script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return status === 0 ? stdout.trim() : null
}
