import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')
const folder = mkdtempSync(join(tmpdir(), 'unused-code-'))
afterAll(() => rmSync(folder, { recursive: true }))

const files = {
  'package.json': JSON.stringify({ name: 'small', type: 'module', dependencies: { lonely: '1.0.0' } }),
  'src/main.ts':
    "import { used } from './used.ts'\nconsole.log(used, new URL('./page-worker.ts', import.meta.url).href)\n",
  'src/used.ts':
    'export const used = 1\nexport const unused = 2\nexport interface Unused {\n  readonly size: number\n}\n',
  'src/page-worker.ts': "process.send?.('ready')\n",
  'src/left-behind.ts': 'export const left = 1\n',
}

it('finds an export, a type, a file and a package that nothing uses, and knows a worker by its name', async () => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const args = [
    join(root, 'node_modules/knip/bin/knip.js'),
    ...['--directory', folder, '--config', join(root, 'scripts/check/knip.jsonc')],
    ...['--no-progress', '--no-config-hints', '--reporter', 'compact'],
  ]
  const { code, stdout } = await promisify(execFile)(process.execPath, args).then(
    (output) => ({ code: 0, ...output }),
    (error: { readonly code: number; readonly stdout: string }) => error,
  )
  expect(code).toBe(1)
  const found = stdout.split('\n').filter((line) => line !== '' && !/\(\d+\)$/.test(line))
  expect(found.toSorted()).toEqual([
    'package.json: lonely',
    'src/left-behind.ts: src/left-behind.ts',
    'src/used.ts: Unused',
    'src/used.ts: unused',
  ])
})
