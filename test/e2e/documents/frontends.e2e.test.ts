import { readFileSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { World } from '../world.ts'
import { examplesOf, linesOf } from './page-examples.ts'
import { runBlocks } from './page-session.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const examples = ['frontends', 'a2a', 'realtime'].flatMap((page) =>
  examplesOf(readFileSync(`${root}docs/${page}.md`, 'utf8')),
)

/** Where the packages that a page imports are installed: those of AG-UI are no dependencies of the project. */
const folderOf = async (code: string): Promise<string> =>
  code.includes('@ag-ui/') ? dirname((await npmPackages('ag-ui')).resolve('@ag-ui/client')) : root

let world: World
beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world.stop())

it.each(examples)(
  'an example of docs/frontends.md, docs/a2a.md or docs/realtime.md prints $prints.text',
  async ({ code, prints }) => {
    const env = {
      TROUPE_URL: world.url,
      TROUPE_KEY: world.secretKey,
      // this Node runs the sources of the clients
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      NODE_OPTIONS: `--import=${new URL('client-packages.ts', import.meta.url)} --disable-warning=ExperimentalWarning`,
    }
    const [output] = await runBlocks([`node --input-type=module <<'END'\n${code}END\n`], {
      folder: await folderOf(code),
      env,
    })
    expect(output?.printed, output?.complaints).toMatch(linesOf(prints.text))
  },
)
