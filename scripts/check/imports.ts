import { posix } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { lineAt, type SourceFile } from './source-files.ts'

/**
 * One import, export-from or `import()` of a file. `target` is a path from the root for a file of the project, else the
 * package's specifier.
 */
export interface Import {
  readonly specifier: string
  readonly target: string
  readonly line: number
}

const statement = /^(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]/gm
const call = /\bimport\(\s*['"`]([^'"`]+)['"`]/g

/** Returns the imports of a file, including type imports: they are dependencies between layers too. */
export function importsOf(file: SourceFile): readonly Import[] {
  return [...file.text.matchAll(statement), ...file.text.matchAll(call)].map((match) => ({
    specifier: match[1] ?? match[2] ?? '',
    target: resolve(file.path, match[1] ?? match[2] ?? ''),
    line: lineAt(file.text, match.index),
  }))
}

/** The `imports` of package.json: each alias with its folder, both without the star. */
const aliases = Object.entries(manifest.imports).map(([alias, target]) => ({
  alias: alias.replace('*', ''),
  folder: posix.normalize(target.replace('*', '')),
}))

const resolve = (from: string, specifier: string) => {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(from), specifier)
  const own = aliases.find(({ alias }) => specifier.startsWith(alias))
  return own === undefined ? specifier : own.folder + specifier.slice(own.alias.length)
}
