import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { importsOf } from '#scripts/check/imports.ts'

const root = resolve(import.meta.dirname, '../../../..')
const entry = 'src/actors/runtime/open/index.ts'
const read = (path: string): string => readFileSync(resolve(root, path), 'utf8')

/** The file that declares a symbol: an entry may export it from another entry. */
const sourceOf = (path: string, symbol: string): string => {
  const text = read(path)
  if (!/^export (type )?\{/m.test(text)) return text
  const found = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'/gm)].find(([, names = '']) =>
    names.split(',').some((name) => name.trim().replace(/^type /, '') === symbol),
  )
  const target = importsOf({ path, text }).find(({ specifier }) => specifier === found?.[2])?.target
  return target === undefined ? text : sourceOf(target, symbol)
}

const symbols = [...read(entry).matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) =>
  names
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== ''),
)

it('has some forty symbols', () => {
  expect(symbols.length).toBeGreaterThan(30)
  expect(symbols.length).toBeLessThanOrEqual(45)
})

it.each(symbols)('declares %s with a comment, and a function or class with an example', (symbol) => {
  const text = sourceOf(entry, symbol)
  const comment = new RegExp(
    `(/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/)\\nexport (?:async )?(const|function\\*?|class|interface|type) ${symbol}\\b([^\\n]*)`,
  ).exec(text)
  expect(comment, `${symbol} has no comment`).not.toBeNull()
  const isCalled =
    comment?.[2] === 'class' || (comment?.[2] === 'const' && /=>|= \($|=$|\($|async/.test(comment[3] ?? ''))
  expect(!isCalled || comment?.[1]?.includes('@example')).toBe(true)
})
