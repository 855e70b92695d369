import { spawnSync } from 'node:child_process'

const git = (...args: readonly string[]): string =>
  spawnSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).stdout ?? ''

/**
 * What a commit draws its cases by: the number of commits up to it, so that the next commits have the others. A shallow
 * clone has one commit at each: there, a number from its id. 0 where git knows neither.
 */
export const commitNumber = (read = git): number => {
  const isShallow = read('rev-parse', '--is-shallow-repository').trim() === 'true'
  if (isShallow) return Number.parseInt(read('rev-parse', 'HEAD').slice(0, 8), 16) || 0
  return Number(read('rev-list', '--count', 'HEAD')) || 0
}

/** Every n-th of many cases: the next commits have those between them. */
export const shareOfCommit = <T>(cases: readonly T[], every: number): readonly T[] => {
  const first = every === 1 ? 0 : commitNumber() % every
  return cases.filter((_, at) => at % every === first)
}
