import type { Operation } from '#specs/dsl/declare.ts'
import { errors } from '#specs/errors/errors.ts'
import { codesOf } from '#specs/errors/wire-errors.ts'
import type { GeneratedFile } from '../generated-file.ts'

/** `specs/errors.md`: every error code, its meaning, and the operations that return it. */
export const errorsPage = (operations: readonly Operation[]): GeneratedFile => {
  const rows = Object.entries(errors).map(([code, { status, type, message }]) => {
    const where = operations.filter((operation) => codesOf(operation).some((each) => each === code))
    return `| \`${code}\` | ${status} | ${type} | ${message} | ${placesOf(where, operations.length)} |`
  })
  const text = [
    '# Errors',
    '',
    'Made from `specs/errors/errors.ts` by `npm run generate`. The status is that of the platform envelope; every other one (the',
    'APIs of OpenAI and Anthropic, flat, web, custom providers) has 400 for whatever is malformed (`specs/errors/wire-errors.ts`). A',
    'code without a place is met in streams, or belongs to operations that are not declared yet.',
    '',
    '| code | status | type | message | answered by |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
  return { path: 'specs/errors.md', text }
}

const placesOf = (where: readonly Operation[], all: number): string => {
  if (where.length === all) return 'every operation'
  if (where.length > 8) return `${where.length} operations`
  return where.map(({ id }) => `\`${id}\``).join(', ')
}
