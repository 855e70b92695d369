import { spawnSync } from 'node:child_process'

/** Number of commits up to this one; 0 where git does not know. */
export const commitCount = (): number =>
  Number(spawnSync('git', ['rev-list', '--count', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' }).stdout) || 0

/** Every n-th of many cases: the next commits have those between them. */
export const shareOfCommit = <T>(cases: readonly T[], every: number): readonly T[] => {
  const first = every === 1 ? 0 : commitCount() % every
  return cases.filter((_, at) => at % every === first)
}
