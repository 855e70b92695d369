import { describe, expect, it } from 'vitest'
import { JoinedNotes, joinedOf } from '#actors/web/search/joined-notes.ts'
import { packed } from '#retrieval/segments/columns.ts'

/** A summary of a hundred words that no other one has. */
const summaryOf = (n: number) => {
  const hashes = Uint32Array.from({ length: 100 }, (_, at) => 100 * n + at)
  return packed({ totals: Float64Array.of(1, 5), languages: new Int32Array(0), hashes, counts: hashes.map(() => 1) })
}
const summary = summaryOf(0)
const notesOf = ({ all }: JoinedNotes) => new Map(all.map((each) => [each.name, each.summary]))

describe('summaries of large segments', () => {
  it('are joined until one is full', async () => {
    const notes = new JoinedNotes([], 1.5 * summaryOf(0).length)
    for (const [n, id] of ['a', 'b', 'c', 'd', 'e'].entries()) await notes.add(id, summaryOf(n))
    expect(notes.all.map(({ of }) => of)).toEqual([['e'], ['c', 'd'], ['a', 'b']])
  })

  it('count once where two processes have joined the same segment, the later one', async () => {
    const [one, other] = [new JoinedNotes([]), new JoinedNotes([])]
    for (const id of ['a', 'b']) await one.add(id, summary)
    for (const id of ['b', 'c']) await other.add(id, summary)
    const found = joinedOf(new Map([...notesOf(one), ...notesOf(other), ['single', summary]]))
    expect(found.map(({ of }) => of)).toEqual([['b', 'c']])
  })

  it('are forgotten with a segment that is gone, and the others stay', async () => {
    const notes = new JoinedNotes([], 1)
    for (const id of ['a', 'b']) await notes.add(id, summary)
    notes.keep(new Set(['b']))
    expect([notes.has('a'), notes.has('b')]).toEqual([false, true])
  })
})
