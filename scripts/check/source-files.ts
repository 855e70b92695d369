import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A file of the project; `path` is relative to the root, with slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** One broken rule: where (line from 1) and what to do. */
export interface Finding {
  readonly path: string
  readonly line: number
  readonly message: string
}

/** The files under these folders whose names end in one of `endings`, sorted by path; folders that do not exist have none. */
export function readFiles(root: string, folders: readonly string[], endings: readonly string[]): readonly SourceFile[] {
  return folders
    .flatMap((folder) => pathsUnder(root, folder))
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** The line, from 1, on which the character at `offset` stands. */
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
