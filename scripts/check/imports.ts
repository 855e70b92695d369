import { posix } from 'node:path'
import { lineAt, type SourceFile } from './source-files.ts'

/** One import, export-from or `import()` of a file. `target` is a path from the root when relative, else the package's specifier. */
export interface Import {
  readonly target: string
  readonly line: number
}

const statement = /^(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]/gm
const call = /\bimport\(\s*['"`]([^'"`]+)['"`]/g

/** What a file imports, types included: a layer that only knows another's types knows it all the same. */
export function importsOf(file: SourceFile): readonly Import[] {
  return [...file.text.matchAll(statement), ...file.text.matchAll(call)].map((match) => ({
    target: resolve(file.path, match[1] ?? match[2] ?? ''),
    line: lineAt(file.text, match.index),
  }))
}

const resolve = (from: string, specifier: string) =>
  specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : specifier
