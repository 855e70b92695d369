import { expect, it } from 'vitest'
import { defects } from './defects.ts'
import { findingSeed } from './finding-seed.ts'

/** Within how many seeds each planted defect is found. */
const foundWithin: Readonly<Record<keyof typeof defects, number>> = {
  'effect before commit': 5,
  'no sweep of open commits': 10,
  'reminders not restored': 20,
  'no unique cause': 150,
  'no hole check': 100,
  'tool run again': 150,
  'acknowledged early': 5,
  'stale result accepted': 60,
  'no fence': 500,
  'reminder delivery not retried': 60,
}

it.each(Object.keys(foundWithin).filter((name) => name in defects))(
  'finds the planted defect: %s',
  async (name) => {
    const known = Object.keys(defects).find((each): each is keyof typeof defects => each === name)
    expect(known && (await findingSeed(defects[known], 1, foundWithin[known]))).toMatchObject({
      violation: expect.any(String),
    })
  },
  300_000,
)
