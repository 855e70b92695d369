import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CredentialKind } from '#specs/access.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { inConsole } from '#specs/reach/console-paths.ts'
import type { GeneratedFile } from '../generated-file.ts'

const head = `/**
 * Operations that a signed-in member may call and a page names, by id: method, path, names of query parameters. Made from the declarations by
 * \`npm run generate\`; \`console/api.ts\` calls by them, so that a page which names what is not there fails the check of types.
 */
export const operations = {
`

/** Credentials that the console calls with: a member's session, or none before sign-in. */
const callers: readonly CredentialKind[] = ['dashboard', 'public']

/**
 * `console/operations.ts`: the operations of the console's client (specs/decisions/0180-console.md).
 *
 * @param text of all pages, which names the operations that they call: half of the others would only be loaded.
 */
export const consoleOperations = (operations: readonly Operation[], text: string): GeneratedFile => {
  const lines = calledBy(operations, text).map(
    ({ id, method, paths: [path], query }) => `  '${id}': ['${method}', '${path}', [${namesOf(query)}]],\n`,
  )
  return { path: 'console/operations.ts', text: `${head}${lines.join('')}} as const\n` }
}

/** The operations that a member may call and a page names. */
export const calledBy = (operations: readonly Operation[], text: string): readonly Operation[] =>
  operations
    .map((operation) => inConsole(operation) ?? operation)
    .filter(({ access }) => access.kinds.some((kind) => callers.includes(kind)))
    .filter(({ id }) => isNamed(id, text))

/** The text of the console's own pages, without what is generated. @param root of the project */
export const consoleText = (root: string): string => {
  const folder = join(root, 'console')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const made = ['operations.ts', 'resources/resources.ts', 'answers.d.ts']
  const pages = files.filter((path) => path.endsWith('.ts') && !made.includes(path) && !path.startsWith('vendor'))
  return pages.map((path) => readFileSync(join(folder, path), 'utf8')).join('\n')
}

/** Whether a page names an operation, or puts its id together from the resource and a verb. */
const isNamed = (id: string, text: string): boolean =>
  text.includes(`'${id}'`) || text.includes(`"${id}"`) || text.includes(`\`${id.split('.')[0]}.\${`)

const namesOf = (query: Operation['query']): string =>
  Object.keys(query)
    .map((name) => `'${name}'`)
    .join(', ')
