import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EventPage } from '#storage/commit-row.ts'
import { mergesOf, type PartRow } from '#storage/merged-parts.ts'
import { eventsOf } from './samples.ts'

/** Rows with these numbers of events; 0 stands for a commit that is not a part. */
const rowsOf = (counts: readonly number[]): PartRow[] => {
  let last = 0
  return counts.flatMap((count, index) => {
    if (count === 0) {
      // a commit that is not a part has an event here
      last += 2
      return []
    }
    const events = eventsOf(last + 1, last + count)
    last += count
    const seq = index + 1
    return [{ seq, at: 1000 + seq, cause: `e#${seq}`, events: JSON.stringify(events), open: false, due: null }]
  })
}

const read = (rows: readonly PartRow[], after = 0) => {
  const page = new EventPage(after, 10_000)
  for (const row of rows) page.take(row.events, row.at)
  return page.events
}

/** States of the store after each single operation of the merges. */
const stagesOf = (rows: readonly PartRow[], maxLength: number): readonly (readonly PartRow[])[] => {
  const stages = [rows]
  const next = (change: (row: PartRow) => PartRow[]) => stages.push((stages.at(-1) ?? []).flatMap(change))
  for (const { into, events, parts } of mergesOf(rows, { maxLength })) {
    next((row) => [row.seq === into.seq && events !== null ? { ...row, events } : row])
    for (const part of parts) next((row) => (row.seq === part.seq ? [] : [row]))
  }
  return stages
}

const logs = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 30 })

it('merging parts keeps the same events with the same times after every single operation', () => {
  fc.assert(
    fc.property(
      logs,
      fc.integer({ min: 100, max: 2000 }),
      fc.integer({ min: 0, max: 60 }),
      (counts, maxLength, after) => {
        const rows = rowsOf(counts)
        for (const stage of stagesOf(rows, maxLength)) expect(read(stage, after)).toEqual(read(rows, after))
      },
    ),
  )
})

it('merging parts continues after a crash with the same events', () => {
  fc.assert(
    fc.property(logs, fc.nat(), fc.integer({ min: 100, max: 2000 }), (counts, cut, maxLength) => {
      const rows = rowsOf(counts)
      const stages = stagesOf(rows, maxLength)
      const cutAt = stages[cut % stages.length] ?? rows
      for (const stage of stagesOf(cutAt, maxLength)) expect(read(stage)).toEqual(read(rows))
      expect(stagesOf(cutAt, maxLength).at(-1)).toEqual(stages.at(-1))
    }),
  )
})

it('merging parts leaves few rows of bounded length', () => {
  const rows = rowsOf(Array.from({ length: 50 }, () => 1))
  const left = stagesOf(rows, 1000).at(-1) ?? []
  expect(left.length).toBeLessThan(12)
  for (const { events } of left) expect(events.length).toBeLessThan(1000 + 50 * 20)
})
