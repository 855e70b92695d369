import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { installedPythons, minorOf, type Python } from '../services/pythons.ts'
import { type ClientCheck, type ClientWorld, run, Skipped } from './client-check.ts'

/**
 * SDKs and agent frameworks for Python, by name: the packages of each major in use, the newest first. Pinned: raise a
 * version here to try a new one; a new major is one more line. Each runs `python/with_<name>.py`. The oldest of a name
 * is often what pip gives on Python 3.9 or 3.10.
 */
const releases: Readonly<Record<string, readonly (readonly [string, ...string[]])[]>> = {
  openai: [['openai==3.57.0'], ['openai==2.48.0']],
  anthropic: [['anthropic==2.14.0'], ['anthropic==1.17.0'], ['anthropic==0.125.0']],
  google_genai: [['google-genai==3.6.1'], ['google-genai==2.33.0'], ['google-genai==1.47.0']],
  langchain: [
    ['langchain==1.5.2', 'langchain-openai==1.7.4'],
    ['langchain==0.3.30', 'langchain-openai==0.3.35', 'langgraph==0.6.11'],
  ],
  openai_agents: [['openai-agents==0.24.0'], ['openai-agents==0.23.1']],
  pydantic_ai: [['pydantic-ai-slim[openai,anthropic]==2.68.0'], ['pydantic-ai-slim[openai,anthropic]==1.107.10']],
  instructor: [['instructor==1.17.0', 'anthropic<2']],
}

/** The oldest minor of Python that an installed package admits, by its metadata. */
const oldestPython = (packages: string, [requirement]: readonly [string, ...string[]]): number => {
  const [name, version] = requirement.replace(/\[.*?\]/, '').split('==')
  const folder = `${name?.replaceAll('-', '_')}-${version}.dist-info`
  const metadata = readFileSync(join(packages, folder, 'METADATA'), 'utf8')
  const oldest = /^Requires-Python:.*>=\s*3\.(\d+)/m.exec(metadata)
  if (oldest === null) throw new Error(`${requirement} does not state which Python it requires`)
  return Number(oldest[1])
}

/** Installs packages with the wheels of one Python. @returns the folder, for PYTHONPATH */
const install = (world: ClientWorld, python: Python, requirements: readonly string[]): string => {
  const target = join(world.folder, python.version)
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries', '10', '--timeout', '60']
  run(world, python.path, [...pip, '--only-binary=:all:', '--no-compile', '--target', target, ...requirements])
  return target
}

/** Runs a program with one major of an SDK on the newest installed Python, and on the oldest that the SDK admits. */
const onNewestAndOldest =
  (program: string, requirements: readonly [string, ...string[]]): ClientCheck =>
  (world) => {
    copyFileSync(join(import.meta.dirname, 'python', program), join(world.folder, 'turn.py'))
    const [newest, ...older] = installedPythons(9).toSorted((a, b) => minorOf(b.version) - minorOf(a.version))
    if (newest === undefined) throw new Skipped('it needs Python 3.9 or newer')
    const turn = (python: Python): string => {
      const packages = install(world, python, requirements)
      run(world, python.path, ['turn.py'], { PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' })
      return packages
    }
    const least = oldestPython(turn(newest), requirements)
    const oldest = older.findLast(({ version }) => minorOf(version) >= least)
    if (oldest !== undefined) turn(oldest)
  }

/** Every major of each SDK on two releases of Python, by the name of the package and its version: `openai==3.57.0`. */
export const everyPythonMajor: Readonly<Record<string, ClientCheck>> = Object.fromEntries(
  Object.entries(releases).flatMap(([name, majors]) =>
    majors.map((packages) => [packages[0].replace(/\[.*?\]/, ''), onNewestAndOldest(`with_${name}.py`, packages)]),
  ),
)
