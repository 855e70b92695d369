import { attacked } from './regexp-attacks.ts'
import { regExpLiterals } from './regexp-literals.ts'
import type { Finding, SourceFile } from './source-files.ts'

/** Patterns made once, when the module loads, of constants of ours. Anywhere else `new RegExp` may be given a caller's text. */
const madeOfConstants = [
  'src/gateway/redaction/placeholders.ts',
  'src/gateway/redaction/log-redaction.ts',
  'src/gateway/redaction/recognisers/secrets.ts',
  'src/gateway/redaction/recognisers/national-ids.ts',
  'src/parsing/pages/boilerplate.ts',
]

/** No pattern takes more than linear time on a text that was made against it, and none is made of a caller's text. */
export const regExpFindings = (files: readonly SourceFile[]): readonly Finding[] =>
  files.flatMap(({ path, text }) => [
    ...regExpLiterals(text).flatMap(({ source, flags, line }): readonly Finding[] => {
      const slow = attacked(source, flags)
      if (slow === null) return []
      return [
        {
          path,
          line,
          message: `/${source}/ takes ${Math.round(slow.ms)} ms for 16 KB of ${JSON.stringify(slow.piece)}`,
        },
      ]
    }),
    ...(madeOfConstants.includes(path) ? [] : builtIn(path, text)),
  ])

const builtIn = (path: string, text: string): readonly Finding[] =>
  text
    .split('\n')
    .flatMap((line, index) =>
      /\bnew RegExp\(/.test(line)
        ? [{ path, line: index + 1, message: 'a RegExp is made at run time: search for the text instead' }]
        : [],
    )
