import { expect, it } from 'vitest'
import { shareOf } from './at-night.ts'

it('n runs with seeds in a row have every case once, however far the seeds have come', () => {
  const cases = Array.from({ length: 11 }, (_, at) => at)
  for (const first of [0, 1, 999_998]) {
    const drawn = [0, 1, 2].flatMap((run) => shareOf(cases, 3, first + run))
    expect(drawn.toSorted((a, b) => a - b)).toEqual(cases)
  }
})
