import { attacked } from './regexp-attacks.ts'
import { regExpLiterals } from './regexp-literals.ts'
import type { Finding, SourceFile } from './source-files.ts'

/**
 * Files whose patterns are made once, at load time, from our own constants. Elsewhere `new RegExp` might get a caller's
 * text.
 */
const madeOfConstants = [
  'src/facts/updates/people.ts',
  'src/facts/updates/slots.ts',
  'src/facts/updates/updates.ts',
  'src/gateway/redaction/placeholders.ts',
  'src/gateway/redaction/log-redaction.ts',
  'src/gateway/redaction/plain-text.ts',
  'src/gateway/redaction/recognisers/national-id-shapes.ts',
  'src/gateway/redaction/recognisers/passwords.ts',
  'src/gateway/redaction/recognisers/payment-card.ts',
  'src/gateway/redaction/recognisers/phone.ts',
  'src/gateway/redaction/recognisers/secret-prefixes.ts',
  'src/parsing/pages/boilerplate.ts',
]

/**
 * Finds patterns that take more than linear time on an adversarial text, and patterns that may be made from a caller's
 * text.
 */
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
