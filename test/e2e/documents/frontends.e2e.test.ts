import { readFileSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { World } from '../world.ts'
import { examplesOf, linesOf } from './page-examples.ts'
import { runBlocks } from './page-session.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const textOf = (page: string): string => readFileSync(`${root}${page}`, 'utf8')
const examples = [
  ...['docs/frontends.md', 'docs/a2a.md', 'docs/realtime.md'].flatMap((page) => examplesOf(textOf(page))),
  // their commands are run by curl.e2e.test.ts, or checked by page-blocks.test.ts
  ...['README.md', 'docs/knowledge.md'].flatMap((page) => examplesOf(textOf(page), ['js'])),
]

/** Where the packages that a page imports are installed: those of AG-UI are no dependencies of the project. */
const folderOf = async (code: string): Promise<string> =>
  code.includes('@ag-ui/') ? dirname((await npmPackages('ag-ui')).resolve('@ag-ui/client')) : root

let world: World
beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world.stop())

it.each(examples)(
  'an example of README.md, docs/frontends.md, docs/a2a.md, docs/realtime.md or docs/knowledge.md prints $prints.text',
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
