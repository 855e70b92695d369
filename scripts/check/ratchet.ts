import type { Finding, SourceFile } from './source-files.ts'
import type { TextRule } from './word-list.ts'

/** Findings that a rule still has, by folder. A folder that is not named has none. */
export type Allowed = Readonly<Record<string, number>>

/**
 * Findings of a rule in folders that have more of them than allowed. Files may move between folders: nothing is reported
 * while the sum does not grow. `allowed` is only ever lowered, to nothing in the end.
 */
export function ratchetFindings(rule: TextRule, files: readonly SourceFile[], allowed: Allowed): readonly Finding[] {
  const findings = files.flatMap(rule)
  if (findings.length <= sumOf(allowed)) return []
  const counts = countsOf(findings)
  return findings.filter(({ path }) => (counts[folderOf(path)] ?? 0) > (allowed[folderOf(path)] ?? 0))
}

/** How many findings each folder has. */
export const countsOf = (findings: readonly Finding[]): Allowed => {
  const counts: Record<string, number> = {}
  for (const { path } of findings) counts[folderOf(path)] = (counts[folderOf(path)] ?? 0) + 1
  return Object.fromEntries(Object.entries(counts).sort(([left], [right]) => (left < right ? -1 : 1)))
}

/** The lower counts of each rule; where the sum of a rule grew, its old ones. */
export const lowered = (before: Readonly<Record<string, Allowed>>, now: Readonly<Record<string, Allowed>>) =>
  Object.fromEntries(
    Object.entries(now).map(([rule, counts]) => {
      const allowed = before[rule] ?? {}
      return [rule, sumOf(counts) > sumOf(allowed) ? allowed : counts]
    }),
  )

const sumOf = (counts: Allowed): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

/** Two levels below the root, three under `src/actors`, where each capability is a folder. */
const folderOf = (path: string): string =>
  path
    .split('/')
    .slice(0, -1)
    .slice(0, path.startsWith('src/actors/') ? 3 : 2)
    .join('/')
