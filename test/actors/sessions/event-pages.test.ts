import { expect, it } from 'vitest'
import { pageOfRange } from '#actors/sessions/event-pages.ts'

/** A log that a crash left with a gap, and a reader of it. */
const sequences = [1, 2, 3, 1033, 1034, 1035, 1036]
const pageOf = async (options: { readonly after?: number; readonly page: number }) => {
  const resident: Parameters<typeof pageOfRange>[1] = Object({ state: { lastSequence: 1036 } })
  const host: Parameters<typeof pageOfRange>[0] = {
    readPage: async (_, after, limit) =>
      sequences
        .filter((sequence) => sequence > after)
        .slice(0, limit)
        .map((sequence) => Object({ sequence })),
  }
  const { events, hasMore } = await pageOfRange(host, resident, {
    range: { first: 1, last: 1036 },
    limit: 2,
    ...options,
  })
  return [events.map(({ sequence }) => sequence), hasMore]
}

it('pages that continue after an event reach what is behind a gap', async () => {
  expect(await pageOf({ after: 0, page: 1 })).toEqual([[1, 2], true])
  expect(await pageOf({ after: 2, page: 1 })).toEqual([[3, 1033], true])
  expect(await pageOf({ after: 3, page: 1 })).toEqual([[1033, 1034], true])
  expect(await pageOf({ after: 1034, page: 1 })).toEqual([[1035, 1036], false])
  expect(await pageOf({ after: 1036, page: 1 })).toEqual([[], false])
})

it('numbered pages in a gap are empty, and say that more follow', async () => {
  expect(await pageOf({ page: 2 })).toEqual([[3], true])
  expect(await pageOf({ page: 3 })).toEqual([[], true])
  expect(await pageOf({ page: 517 })).toEqual([[1033, 1034], true])
  expect(await pageOf({ page: 518 })).toEqual([[1035, 1036], false])
  expect(await pageOf({ page: 519 })).toEqual([[], false])
})
