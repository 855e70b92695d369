import { globSync } from 'node:fs'
import { posix } from 'node:path'
import { type Finding, lineAt, type SourceFile } from './source-files.ts'

const path = /(?<![\w./:@-])(?:\.\/)?((?:src|specs|test|scripts|bench|\.ci)\/[\w.*/<>{},-]*[\w*/>}])/g
const link = /\]\((?!https?:|#|mailto:)([^)\s#]+)[^)]*\)/g
/** In code, only decisions are checked: other paths there are often examples. */
const decision = /(?<![\w./-])(specs\/decisions\/\d[\w-]*(?:\.md)?)/g

/** Finds paths that pages (and, for decisions, comments) name and that do not exist. `<x>` and `*` match anything. */
export function namedPathFindings(root: string, files: readonly SourceFile[]): readonly Finding[] {
  return files.flatMap((file) =>
    namesIn(file)
      .filter(({ name }) => globSync(asPattern(name), { cwd: root }).length === 0)
      .map(({ name, offset }) => ({
        path: file.path,
        line: lineAt(file.text, offset),
        message: `${name} does not exist`,
      })),
  )
}

function namesIn({ path: from, text }: SourceFile): readonly { readonly name: string; readonly offset: number }[] {
  if (!from.endsWith('.md')) return found(text, decision)
  const links = found(text, link).map(({ name, offset }) => ({
    name: posix.join(posix.dirname(from), name),
    offset,
  }))
  return [...found(text.replaceAll(link, blank), path), ...links]
}

const found = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map((match) => ({ name: match[1] ?? '', offset: match.index }))

const blank = (match: string) => ' '.repeat(match.length)

/** `specs/decisions/0002` stands for the page whose file name begins with it. */
const asPattern = (name: string) => name.replace(/<[^>]*>/g, '*').replace(/(specs\/decisions\/\d[\w-]*)$/, '$1*')
