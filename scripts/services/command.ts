import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Path of the first of `names` that is an executable on PATH; null for none. */
export function onPath(...names: readonly string[]): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  for (const name of names) {
    const found = folders.map((folder) => join(folder, name)).find(isExecutable)
    if (found !== undefined) return found
  }
  return null
}

/**
 * Runs a command to its end; its output is shown only when it fails.
 *
 * @throws {Error} with the last lines of the output when the command cannot be started or exits non-zero.
 */
export function runCommand(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): void {
  const done = spawnSync(command, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  if (done.status === 0) return
  const reason = done.error?.message ?? `${done.stdout}${done.stderr}`.trim().split('\n').slice(-8).join('\n')
  throw new Error(`${command} ${args.join(' ')}\n${reason}`)
}

/**
 * Arguments with which `python3` fetches pinned wheels without their dependencies, with retries for a briefly
 * unavailable index.
 */
export const pipArguments = (command: 'download' | 'install'): readonly string[] => [
  ...['-m', 'pip', command, '--quiet', '--disable-pip-version-check', '--retries', '10', '--timeout', '60'],
  ...['--no-deps', '--only-binary=:all:'],
]

/** Reports on standard error what is being set up, so that a first run that takes a minute explains itself. */
export function say(line: string): void {
  process.stderr.write(`[services] ${line}\n`)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
