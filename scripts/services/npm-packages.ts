import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { say } from './command.ts'
import { cache, publish } from './wheels.ts'

const suites = resolve(import.meta.dirname, '../../test/ecosystem')
const run = promisify(execFile)

/**
 * Installs the packages of a suite that only its tests use, as its own lock pins them with their hashes, into a folder
 * under `.cache`. Another lock uses a new folder. They are no dependencies of the project, so that `npm ci` stays small.
 *
 * @param suite a folder of test/ecosystem
 * @returns `require` as a module among these packages would have it.
 * @throws {Error} when the registry cannot be reached or a hash differs.
 */
export const npmPackages = async (suite: string): Promise<NodeJS.Require> => {
  const lock = createHash('sha256').update(readFileSync(join(suites, suite, 'package-lock.json')))
  const target = join(cache, `${suite}-${lock.digest('hex').slice(0, 12)}`)
  if (!existsSync(target)) await install(suite, target)
  return createRequire(join(target, 'package.json'))
}

/** Unpacked into a draft, so that a broken installation is never used, and two at once result in one. */
const install = async (suite: string, target: string): Promise<void> => {
  say(`installing the packages of test/ecosystem/${suite} with npm into .cache (once)`)
  mkdirSync(cache, { recursive: true })
  const draft = mkdtempSync(join(cache, 'draft-'))
  try {
    for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(suites, suite, file), join(draft, file))
    await run('npm', ['ci', '--prefix', draft, '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: draft })
    publish(draft, target)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}
