import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A file of the project; `path` is relative to the root, with slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** One violation of a rule: where it is (line from 1) and what to do. */
export interface Finding {
  readonly path: string
  readonly line: number
  readonly message: string
}

/**
 * Reads the files below these folders whose names end in one of `endings`, sorted by path. Missing folders are skipped.
 */
export function readFiles(root: string, folders: readonly string[], endings: readonly string[]): readonly SourceFile[] {
  return folders
    .flatMap((folder) => pathsUnder(root, folder))
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** Line, from 1, of the character at `offset`. */
export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length

function pathsUnder(root: string, folder: string): readonly string[] {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? pathsUnder(root, `${folder}/${entry.name}`) : [`${folder}/${entry.name}`],
    )
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
