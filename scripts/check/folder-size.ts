import { posix } from 'node:path'
import type { Finding, SourceFile } from './source-files.ts'

/** A folder with more files has to be split by purpose. */
const maxFiles = 25

/** Folders with too many files of code. */
export const folderSizeFindings = (files: readonly SourceFile[]): readonly Finding[] =>
  [...Map.groupBy(files, ({ path }) => posix.dirname(path))]
    .filter(([, inside]) => inside.length > maxFiles)
    .map(([folder, inside]) => ({
      path: folder,
      line: 1,
      message: `has ${inside.length} files; split a folder of more than ${maxFiles} by what they are for`,
    }))
