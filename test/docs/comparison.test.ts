import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const rows = readFileSync(resolve(root, 'docs/comparison.md'), 'utf8')
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter(([, , ours = '']) => ours.startsWith('yes'))

it.each(rows.map(([, feature = '', ours = '']) => [feature, ours]))('the comparison names tests for: %s', (_, ours) => {
  const named = [...ours.matchAll(/\]\(\.\.\/(test\/[^)]+)\)/g)].map(([, path = '']) => path)
  expect(named).not.toEqual([])
  expect(named.filter((path) => !/\.test\.ts$/.test(path) || !existsSync(resolve(root, path)))).toEqual([])
})
