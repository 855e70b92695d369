import { type Finding, lineAt, type SourceFile } from './source-files.ts'

const documented = /^(src\/machines\/|specs\/|src\/storage\/ports\.ts$)/
const exported =
  /^export (?:declare |abstract |async )*(?:const|let|function\*?|class|interface|type|namespace) ([\w$]+)/gm

/** Exports of machines, specs and the storage ports without a docstring: these pages are read as the reference. */
export function docstringFindings(files: readonly SourceFile[]): readonly Finding[] {
  return files
    .filter(({ path }) => documented.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(exported)]
        .filter((match) => !/\*\/\n$/.test(text.slice(0, match.index)))
        .map((match) => ({ path, line: lineAt(text, match.index), message: `${match[1]} has no docstring` })),
    )
}
