import { expect, it } from 'vitest'
import { commitNumber } from '#scripts/services/commit-share.ts'
import { shareOf } from './at-night.ts'
import { seedOf } from './seed.ts'

it('n runs with seeds in a row have every case once, however far the seeds have come', () => {
  const cases = Array.from({ length: 11 }, (_, at) => at)
  for (const first of [0, 1, 999_998]) {
    const drawn = [0, 1, 2].flatMap((run) => shareOf(cases, 3, first + run))
    expect(drawn.toSorted((a, b) => a - b)).toEqual(cases)
  }
})

it.each(['', 'abc', '-1', '1.5', '1e3', '9'.repeat(16)])('a seed that draws nothing is refused: %j', (text) => {
  expect(() => seedOf(text)).toThrow('TEST_SEED must be a whole number')
})

it.each([
  ['the number of commits', 'false', 4217],
  ['in a shallow clone, which counts one, a number from its id', 'true', 0xfedcba98],
])('a commit draws by %s', (_, shallow, drawn) => {
  const read = (...args: readonly string[]): string =>
    args.includes('--count')
      ? `${shallow === 'true' ? 1 : 4217}\n`
      : `${args.includes('HEAD') ? 'fedcba9876543210' : shallow}\n`
  expect(commitNumber(read)).toBe(drawn)
})
