import { type CalledOperations, recordingPath } from '#scripts/test/called-operations.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { interfaceRows } from '#specs/interface-rows.ts'
import type { GeneratedFile } from '../generated-file.ts'

/** Contract test that covers every operation; a row needs at least one more test. */
const contractTest = 'test/transport/api/contract.test.ts'

/** Maximum number of tests that are named for a row. */
const namedTests = 3

/** APIs of other vendors that users may look for here; each is 404. */
const notOffered = [
  'Not offered: fine-tuning and realtime sessions over WebRTC in the form of OpenAI, and files in that of Anthropic.',
] as const

/**
 * `specs/coverage.md`: every row of the interface, its declaration, and its tests.
 *
 * @param called operations of which each test file got an answer when last recorded.
 */
export const coveragePage = (operations: readonly Operation[], called: CalledOperations): GeneratedFile => {
  const sections = Object.entries(interfaceRows).map(([section, rows]) => {
    const found = rows.map((row) => ({ row, operation: operations.find((each) => serves(each, row)) }))
    const lines = found.map(({ row, operation }) => rowLine(row, operation, called))
    return { section, declared: found.filter(({ operation }) => operation !== undefined).length, lines }
  })
  const total = sections.reduce((sum, { lines }) => sum + lines.length, 0)
  const declared = sections.reduce((sum, section) => sum + section.declared, 0)
  const text = [
    '# Coverage of the interface',
    '',
    `Made from \`specs/interface-rows.ts\`, the declarations and \`${recordingPath}\` by \`npm run generate\`. Every declared`,
    `operation is also held to the contract of \`${contractTest}\`; named here are tests that had an answer of it.`,
    '',
    `${declared} of ${total} rows are declared.`,
    '',
    ...notOffered,
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

const rowLine = (row: string, operation: Operation | undefined, called: CalledOperations): string => {
  if (operation === undefined) return `| ${row} | missing | |`
  const files = Object.entries(called).flatMap(([file, ids]) => (ids.includes(operation.id) ? [`\`${file}\``] : []))
  const named = files.length === 0 ? 'missing' : files.slice(0, namedTests).join(', ')
  return `| ${row} | \`${operation.id}\` | ${named}${files.length > namedTests ? ' …' : ''} |`
}

const serves = (operation: Operation, row: string): boolean => {
  const [method, path = ''] = row.split(' ')
  return operation.method === method && operation.paths.some((each) => nameless(each) === nameless(path))
}

/** Removes the names of parameters: two templates are equal whatever their parameters are called. */
const nameless = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}')
