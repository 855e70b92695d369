import { seedOf } from './seed.ts'

/** Whether the long halves of tests run, as `npm run nightly -- stores` does. */
export const atNight = process.env.EVERY_STORE !== undefined

/** Every third of many cases that differ little, and all of them at night (specs/decisions/0329-what-ci-leaves-to-the-night.md). */
export const someOf = <T>(cases: readonly T[]): readonly T[] =>
  atNight ? cases : cases.filter((_, at) => at % 3 === 0)

/** What a run draws its cases by: the number of commits, which `npm test` prints, or TEST_SEED. */
export const runSeed = seedOf(process.env.TEST_SEED)

/** Every n-th of many cases: n seeds in a row have all of them. */
export const shareOf = <T>(cases: readonly T[], n: number, seed: number): readonly T[] =>
  cases.filter((_, at) => at % n === seed % n)

/** The n-th part of many cases that this run has drawn, and all of them at night. */
export const drawnOf = <T>(cases: readonly T[], n: number): readonly T[] =>
  atNight ? cases : shareOf(cases, n, runSeed)

/** Runs of a property with random inputs, others at each run: a quarter of what it has at night. */
export const runsByDay = (runs: number): number => (atNight ? runs : Math.ceil(runs / 4))
