import type { CredentialKind } from '#specs/access.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { GeneratedFile } from '../generated-file.ts'

const head = `/**
 * Operations that a signed-in member may call, by id: method, path, names of query parameters. Made from the declarations by
 * \`npm run generate\`; \`console/api.js\` calls by them, so that a page which names what is not there fails the check of types.
 */
export const operations = /** @type {const} */ ({
`

/** Credentials that the console calls with: a member's session, or none before sign-in. */
const callers: readonly CredentialKind[] = ['dashboard', 'public']

/** `console/operations.js`: the operations of the console's client (specs/decisions/0180-console.md). */
export const consoleOperations = (operations: readonly Operation[]): GeneratedFile => {
  const lines = operations
    .filter(({ access }) => access.kinds.some((kind) => callers.includes(kind)))
    .map(({ id, method, paths: [path], query }) => `  '${id}': ['${method}', '${path}', [${namesOf(query)}]],\n`)
  return { path: 'console/operations.js', text: `${head}${lines.join('')}})\n` }
}

const namesOf = (query: Operation['query']): string =>
  Object.keys(query)
    .map((name) => `'${name}'`)
    .join(', ')
