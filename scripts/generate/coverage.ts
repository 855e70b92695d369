import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Operation } from '../../specs/declare.ts'
import { interfaceRows } from '../../specs/interface-rows.ts'
import type { GeneratedFile } from './generated-file.ts'

/** A text file of the project, by its path from the root. */
export interface SourceText {
  readonly path: string
  readonly text: string
}

/** The contract that every operation is held to; a row needs a test of its own beside it. */
const contractTest = 'test/transport/api/contract.test.ts'

/** Tests here serve fakes: they prove the mechanism, not what an operation does. */
const withFakes = ['test/specs/', 'test/transport/api/']

/** At most so many tests are named for a row. */
const namedTests = 3

/** `specs/coverage.md`: every row of the interface, its declaration, and its tests. */
export const coveragePage = (operations: readonly Operation[], tests: readonly SourceText[]): GeneratedFile => {
  const own = tests.filter(({ path }) => !withFakes.some((folder) => path.startsWith(folder)))
  const sections = Object.entries(interfaceRows).map(([section, rows]) => {
    const found = rows.map((row) => ({ row, operation: operations.find((each) => serves(each, row)) }))
    const lines = found.map(({ row, operation }) => rowLine(row, operation, own))
    return { section, declared: found.filter(({ operation }) => operation !== undefined).length, lines }
  })
  const total = sections.reduce((sum, { lines }) => sum + lines.length, 0)
  const declared = sections.reduce((sum, section) => sum + section.declared, 0)
  const text = [
    '# Coverage of the interface',
    '',
    'Made from `specs/interface-rows.ts`, the declarations and the tests by `npm run generate`. Every declared operation',
    `is also held to the contract of \`${contractTest}\`; named here are tests that call what it does.`,
    '',
    `${declared} of ${total} rows are declared.`,
    ...sections.flatMap((section) => [
      '',
      `## ${section.section} (${section.declared} of ${section.lines.length})`,
      '',
      '| row | operation | tests |',
      '|---|---|---|',
      ...section.lines,
    ]),
    '',
  ].join('\n')
  return { path: 'specs/coverage.md', text }
}

/** The test files under a folder. */
export const testTexts = (root: string): readonly SourceText[] =>
  readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name}`)
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

const rowLine = (row: string, operation: Operation | undefined, tests: readonly SourceText[]): string => {
  if (operation === undefined) return `| ${row} | missing | |`
  const calls = callsOf(operation)
  const found = tests.filter(({ text }) => calls.test(text)).map(({ path }) => `\`${path}\``)
  const named = found.length === 0 ? 'missing' : found.slice(0, namedTests).join(', ')
  return `| ${row} | \`${operation.id}\` | ${named}${found.length > namedTests ? ' …' : ''} |`
}

const serves = (operation: Operation, row: string): boolean => {
  const [method, path = ''] = row.split(' ')
  return operation.method === method && operation.paths.some((each) => nameless(each) === nameless(path))
}

/** Two templates are the same whatever their parameters are called. */
const nameless = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}')

/** The operation's id in quotes, or a path of it as tests write one, with whatever stands for its parameters. */
const callsOf = ({ id, paths }: Operation): RegExp => {
  const escaped = (text: string) => text.replaceAll(/[.*+?^$()[\]\\|]/g, '\\$&')
  const forms = paths.map(
    (path) =>
      path
        .split(/\{\w+\}/)
        .map(escaped)
        .join(parameterText) + endOfPath,
  )
  return new RegExp([`'${escaped(id)}'`, ...forms].join('|'))
}

const parameterText = '[^/\\s\'"`?]+'
const endOfPath = '(?=[\'"`?])'
