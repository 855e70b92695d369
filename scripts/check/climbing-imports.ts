import { importsOf } from './imports.ts'
import type { Finding, SourceFile } from './source-files.ts'

/** Imports that climb two folders or more: they go by an alias of package.json, so that a moved file keeps them. */
export const climbingImportFindings = (files: readonly SourceFile[]): readonly Finding[] =>
  files.flatMap((file) =>
    importsOf(file)
      .filter(({ specifier, target }) => /^(\.\.\/){2}/.test(specifier) && /^(src|specs|test|scripts)\//.test(target))
      .map(({ specifier, line }) => ({
        path: file.path,
        line,
        message: `${specifier} climbs two folders or more; use an alias of "imports" in package.json`,
      })),
  )
