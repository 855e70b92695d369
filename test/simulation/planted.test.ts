import { expect, it } from 'vitest'
import { defects } from './defects.ts'
import { findingSeed } from './finding-seed.ts'
import { runDefects } from './run-defects.ts'

const planted = { ...defects, ...runDefects }

/** Within how many seeds each planted defect is found. */
const foundWithin: Readonly<Record<keyof typeof planted, number>> = {
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
  'the result of a child lost': 120,
  'a slot kept after a crash': 40,
  'a cancel not cascaded': 60,
  'the expiry of a run lost on hand-over': 20,
  'the queue woken before the row': 40,
  'a lane unmarked at once': 60,
  'holders of slots forgotten': 20,
  'the same lane served first': 40,
}

it.each(Object.keys(foundWithin))(
  'finds the planted defect: %s',
  async (name) => {
    const known = Object.keys(planted).find((each): each is keyof typeof planted => each === name)
    expect(known && (await findingSeed(planted[known], 1, foundWithin[known]))).toMatchObject({
      violation: expect.any(String),
    })
  },
  300_000,
)
