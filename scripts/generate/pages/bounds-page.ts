import { bounds } from '#specs/bounds.ts'
import type { GeneratedFile } from '../generated-file.ts'

/** `specs/bounds.md`: every bound, and what happens beyond it. */
export const boundsPage = (): GeneratedFile => {
  const rows = bounds.map(
    ({ of, max, beyond, code, test }) => `| ${of} | ${max} | ${beyond} | \`${code[0]}\` | \`${test[0]}\` |`,
  )
  const text = [
    '# Bounds',
    '',
    'Made from `specs/bounds.ts` by `npm run generate`.',
    '',
    '| of | at most | beyond it | code | test |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
  return { path: 'specs/bounds.md', text }
}
