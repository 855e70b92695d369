import { importsOf } from './imports.ts'
import type { Finding, SourceFile } from './source-files.ts'

/**
 * Finds imports that go up two folders or more. They must use an alias of package.json, so that a file can be moved.
 */
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
