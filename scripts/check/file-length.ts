import type { Finding, SourceFile } from './source-files.ts'

/** A file holds one concept; a longer one holds two. */
const maxLines = 400

/** Files that are too long to be one concept. */
export function fileLengthFindings(files: readonly SourceFile[]): readonly Finding[] {
  return files
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > maxLines)
    .map(({ path, lines }) => ({
      path,
      line: lines,
      message: `stop at ${maxLines} lines: give a part a file of its own`,
    }))
}
