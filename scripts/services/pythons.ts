import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** An interpreter of this machine. */
export interface Python {
  /** Major and minor, such as `3.12`. */
  readonly version: string
  readonly path: string
}

const versionOf = (path: string): string | null => {
  const { status, stdout } = spawnSync(path, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], {
    encoding: 'utf8',
  })
  return status === 0 && /^3\./.test(stdout) ? stdout.trim() : null
}

/** The number after `3.`, by which versions are compared. */
export const minorOf = (version: string): number => Number(version.split('.')[1])

/**
 * Interpreters of Python 3 on this machine, one a version: the default one, those on PATH, those of pyenv.
 *
 * @param oldestMinor the oldest to return: 10 for Python 3.10
 */
export const installedPythons = (oldestMinor: number): readonly Python[] => {
  const pyenv = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions')
  const kept = existsSync(pyenv) ? readdirSync(pyenv).map((version) => join(pyenv, version, 'bin/python3')) : []
  const named = ['python3', ...[9, 10, 11, 12, 13, 14].map((minor) => `python3.${minor}`)]
  const found = new Map<string, Python>()
  for (const path of [...named, ...kept]) {
    const version = versionOf(path)
    if (version !== null && minorOf(version) >= oldestMinor && !found.has(version))
      found.set(version, { version, path })
  }
  return [...found.values()]
}
