import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')

const text = (name: string) => `export function ${name}(rows: readonly { id: string; size: number }[]): string {
  const sizes = rows.filter((row) => row.size > 10).map((row) => row.size * 2)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const names = rows.map((row) => row.id.toUpperCase()).join(', ')
  if (total > 1000) throw new Error(names + ' are too large: ' + total)
  return names + ' have ' + total + ' in ' + sizes.length
}
`

const copiesIn = (...texts: readonly string[]) => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-copies-'))
  for (const [at, content] of texts.entries()) writeFileSync(join(folder, `file-${at}.ts`), content)
  const args = ['node_modules/jscpd/bin/jscpd', '--config', 'scripts/check/jscpd.json', folder]
  const run = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  return run.status
}

it('refuses the same code in two files', () => {
  expect(copiesIn(text('first'), text('second'))).toBe(1)
})

it('accepts a file without copies', () => {
  expect(copiesIn(text('first'))).toBe(0)
})
