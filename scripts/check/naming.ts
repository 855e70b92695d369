import type { Finding, SourceFile } from './source-files.ts'

const vague = /(^|[-/])(utils?|helpers?|common|managers?|misc)([-./]|$)/

/** Finds files and folders with a vague name, which attract unrelated code. */
export function namingFindings(files: readonly SourceFile[]): readonly Finding[] {
  return files
    .filter(({ path }) => vague.test(path))
    .map(({ path }) => ({
      path,
      line: 1,
      message: 'name it after what it exports, not utils, helpers, common or manager',
    }))
}
