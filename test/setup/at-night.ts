/** Whether the long halves of tests run, as `npm run nightly -- stores` does. */
export const atNight = process.env.EVERY_STORE !== undefined

/** Every third of many cases that differ little, and all of them at night (specs/decisions/0329-what-ci-leaves-to-the-night.md). */
export const someOf = <T>(cases: readonly T[]): readonly T[] =>
  atNight ? cases : cases.filter((_, at) => at % 3 === 0)
