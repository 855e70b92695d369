import type { Operation } from '#specs/dsl/declare.ts'
import { documentOf } from '../called-operations.ts'
import type { GeneratedFile } from '../generated-file.ts'
import { TypeTexts } from '../type-text.ts'
import { calledBy } from './console-operations.ts'

const head = `/**
 * What the operations of \`console/operations.ts\` answer with, by their ids. Made from the declarations by
 * \`npm run generate\`, so that a page which reads a field that is not there fails the check of types.
 */
export interface Answers {
`

/** `console/answers.d.ts`: the types of the console's client (specs/decisions/0180-console.md). Those of the client for callers are its own. */
export const consoleAnswers = (
  operations: readonly Operation[],
  text: string,
  client: GeneratedFile,
): GeneratedFile => {
  const types = new TypeTexts()
  const lines = calledBy(operations, text).flatMap((operation) => {
    const json = documentOf(operation)
    return json === null ? [] : [`  readonly '${operation.id}': ${types.of(json, 'answer')}\n`]
  })
  const known = new Set(client.text.split('\n'))
  const declared = types.declarations('all').split('\n')
  const shared = declared.filter((line) => line !== '' && known.has(line)).map((line) => line.split(' ')[2])
  const names = `type { ${shared.join(', ')} }`
  const own = declared.filter((line) => !known.has(line)).join('\n')
  const from = `import ${names} from '#client/api/index.ts'\n\nexport ${names}\n`
  return { path: 'console/answers.d.ts', text: `${from}\n${head}${lines.join('')}}\n\n${own}\n` }
}
