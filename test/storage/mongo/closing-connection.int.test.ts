import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const program = join(import.meta.dirname, 'cut-connection.ts')
const fromSources = ['--disable-warning=ExperimentalWarning', '--import', './src/start/kept-sources.js', program]

describe('a connection to MongoDB that ends while a command is on its way to it', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'troupe-closing-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** The program with its copy of the driver in one file, as in a packed server. */
  const bundled = async (): Promise<readonly string[]> => {
    const build = await rolldown({ input: program, platform: 'node', logLevel: 'silent' })
    const file = join(folder, 'cut-connection.mjs')
    await build.write({ file, format: 'esm', codeSplitting: false })
    await build.close()
    return [file]
  }

  it.each([
    { how: 'run from sources', args: async () => fromSources },
    { how: 'bundled with the driver', args: bundled },
  ])(
    'leaves no work unanswered, and the next one works, in a server $how',
    async ({ how, args }) => {
      const database = `closing_${how.split(' ', 1)}`
      const command = [...(await args()), process.env.MONGODB_URL ?? '', database]
      const { stdout } = await run(process.execPath, command, { timeout: 100_000 })
      const kinds = ['append', 'row', 'read', 'list']
      expect(stdout.trim().split('\n')).toEqual(kinds.map((kind) => `${kind}: settled, then works`))
    },
    120_000,
  )
})
