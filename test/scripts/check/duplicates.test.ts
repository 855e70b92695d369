import { describe, expect, it } from 'vitest'
import { copiesIn, duplicateFindings } from '#scripts/check/duplicates.ts'

const text = (name: string) => `export function ${name}(rows: readonly { id: string; size: number }[]): string {
  const sizes = rows.filter((row) => row.size > 10).map((row) => row.size * 2)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const names = rows.map((row) => row.id.toUpperCase()).join(', ')
  if (total > 1000) throw new Error(names + ' are too large: ' + total)
  return names + ' have ' + total + ' in ' + sizes.length
}
`

const filesOf = (...texts: readonly string[]) => texts.map((text, at) => ({ path: `file-${at}.ts`, text }))

describe('the check for duplicate code', () => {
  it('refuses the same code in two files', () => {
    expect(duplicateFindings(filesOf(text('first'), text('second')))).toEqual([
      { path: 'file-1.ts', line: 1, message: expect.stringContaining('7 lines are those at file-0.ts:1') },
    ])
  })

  it('finds a copy within a file, and each copy once', () => {
    const twice = copiesIn(filesOf(`const x = 1\n${text('first')}const y = 2\n${text('second')}`, text('third')))
    expect(twice.map(({ path, line, of }) => [path, line, of.path, of.line])).toEqual([
      ['file-0.ts', 10, 'file-0.ts', 2],
      ['file-1.ts', 1, 'file-0.ts', 2],
    ])
  })

  it('finds a copy with other line breaks and comments', () => {
    const other = text('second').replaceAll('; ', ';\n').replace(') {\n', ') {\n  // of the caller\n')
    expect(copiesIn(filesOf(text('first'), other))).toHaveLength(1)
  })

  it.each([
    ['one file', [text('first')]],
    ['code that differs every few tokens', [text('first'), text('second').replaceAll('size', 'length')]],
    [
      'imports',
      [0, 1].map(() => Array.from({ length: 20 }, (_, at) => `import { a${at} } from './${at}.ts'`).join('\n')),
    ],
    ['few lines', [0, 1].map(() => text('one').split('\n').slice(0, 4).join('\n'))],
  ])('accepts %s', (_, texts) => {
    expect(copiesIn(filesOf(...texts))).toEqual([])
  })
})
