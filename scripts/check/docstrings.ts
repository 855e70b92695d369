import { type Finding, lineAt, type SourceFile } from './source-files.ts'

const documented = /^(src\/machines\/|specs\/|src\/storage\/ports\.ts$)/
const exported =
  /^export (?:declare |abstract |async )*(?:const|let|function\*?|class|interface|type|namespace) ([\w$]+)/gm

/**
 * Finds exports of machines, specs and the storage ports without a docstring, since these files serve as the reference.
 * Of overloads, one docstring is enough.
 */
export function docstringFindings(files: readonly SourceFile[]): readonly Finding[] {
  return files.filter(({ path }) => documented.test(path)).flatMap(missingIn)
}

function missingIn({ path, text }: SourceFile): readonly Finding[] {
  const described = new Set<string>()
  const missing: Finding[] = []
  for (const match of text.matchAll(exported)) {
    const name = match[1] ?? ''
    if (/\*\/\n(?:\/\/ biome-ignore .*\n)?$/.test(text.slice(0, match.index))) described.add(name)
    else if (!described.has(name))
      missing.push({ path, line: lineAt(text, match.index), message: `${name} has no docstring` })
  }
  return missing
}
