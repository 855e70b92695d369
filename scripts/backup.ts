import { readCommandLine } from '#src/start/command-line.ts'
import { backUp } from './backup/back-up.ts'
import { fail } from './backup/installation.ts'

/**
 * `npm run backup -- --out FOLDER`: copies a running installation on SQLite, with its master key, into a new folder.
 * docs/upgrading.md explains how to restore it.
 */
const usage = [
  'usage: npm run backup -- --out FOLDER',
  '',
  'Copies the store of a running server and its master key into a new folder. The server goes on meanwhile.',
  'With MongoDB it says what to run instead, and exits with 1. docs/upgrading.md says how to put a copy back.',
].join('\n')

const { out } = readCommandLine({ usage, options: { out: { type: 'string' } } })

try {
  if (!out) {
    process.stderr.write(`${usage}\n`)
    process.exit(2)
  }
  process.stdout.write(`${(await backUp(out)).join('\n')}\n`)
} catch (error) {
  fail(error)
}
