import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { installPythonPackages } from '#scripts/services/python-packages.ts'

/** An interpreter that the client runs on. */
interface Python {
  readonly version: string
  readonly path: string
}

const versionOf = (path: string): string | null => {
  const code = 'import sys; print("%d.%d" % sys.version_info[:2]) if sys.version_info >= (3, 10) else None'
  const { status, stdout } = spawnSync(path, ['-c', code], { encoding: 'utf8' })
  return status === 0 && /^3\./.test(stdout) ? stdout.trim() : null
}

/** Interpreters of Python 3.10 or newer on this machine, one a version: the default one, those on PATH, those of pyenv. */
export const installedPythons = (): readonly Python[] => {
  const pyenv = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions')
  const kept = existsSync(pyenv) ? readdirSync(pyenv).map((version) => join(pyenv, version, 'bin/python3')) : []
  const named = ['python3', ...[10, 11, 12, 13, 14].map((minor) => `python3.${minor}`)]
  const found = new Map<string, Python>()
  for (const path of [...named, ...kept]) {
    const version = versionOf(path)
    if (version !== null && !found.has(version)) found.set(version, { version, path })
  }
  return [...found.values()]
}

/** Installs the pinned packages of a file in this folder. @returns the folder for PYTHONPATH; null if they cannot be had. */
export const pythonPackages = (name: string, pins: string): string | null => {
  try {
    return installPythonPackages(name, join(import.meta.dirname, pins))
  } catch (error) {
    console.error(`NOT TESTED: ${name} cannot be installed. ${error}`)
    return null
  }
}
