import { expect, it } from 'vitest'
import { DisturbedPeriods } from '#scripts/chaos/disturbed-periods.ts'

it('spans spare a period that overlaps no disturbance or the second after it', () => {
  const spans = new DisturbedPeriods()
  const before = performance.now()
  expect(spans.spare(before, before + 60_000)).toBe(true)
  const end = spans.begin()
  const during = performance.now()
  expect(spans.spare(before - 10, before - 5)).toBe(true)
  expect(spans.spare(before, during)).toBe(false)
  expect(spans.spare(during + 10_000, during + 20_000), 'it goes on').toBe(false)
  end()
  expect(spans.spare(performance.now() + 500, performance.now() + 2_000), 'clients are not back yet').toBe(false)
  expect(spans.spare(performance.now() + 1_500, performance.now() + 2_000)).toBe(true)
})
