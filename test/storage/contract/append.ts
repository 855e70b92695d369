import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runsByDay } from '#test/setup/at-night.ts'
import type { Subject } from '../contract.ts'
import { commitOf } from '../samples.ts'

export const appendContract = ({ store, fresh }: Subject): void => {
  it('returns every field of a commit as it was appended', async () => {
    const actor = fresh('ses')
    const commit = commitOf(actor, 1, { tenant: 'ten_1', open: true, due: 5_000, last_sequence: 3 })
    expect(await store().commits.append([commit])).toEqual(['done'])
    expect(await store().commits.head(actor)).toEqual(commit)
  })

  it('refuses a second commit with the same sequence number as overtaken and keeps the first', async () => {
    const actor = fresh('ses')
    const first = commitOf(actor, 1)
    await store().commits.append([first])
    expect(await store().commits.append([commitOf(actor, 1, { cause: 'other' })])).toEqual(['overtaken'])
    expect((await store().commits.at(actor, 1))?.nonce).toBe(first.nonce)
    expect(await store().commits.byCause(actor, 'other')).toBeNull()
  })

  it('refuses a second commit with the same cause as duplicate and writes nothing', async () => {
    const actor = fresh('ses')
    await store().commits.append([commitOf(actor, 1)])
    expect(await store().commits.append([commitOf(actor, 2, { cause: 'cause:1' })])).toEqual(['duplicate'])
    expect((await store().commits.head(actor))?.seq).toBe(1)
  })

  it('reports overtaken when both the sequence number and the cause exist', async () => {
    const actor = fresh('ses')
    await store().commits.append([commitOf(actor, 1), commitOf(actor, 2)])
    expect(await store().commits.append([commitOf(actor, 2, { cause: 'cause:1' })])).toEqual(['overtaken'])
    expect(await store().commits.append([commitOf(actor, 1)])).toEqual(['overtaken'])
  })

  it('accepts the same cause and sequence number for another actor', async () => {
    const [a, b] = [fresh('ses'), fresh('ses')]
    expect(await store().commits.append([commitOf(a, 1), commitOf(b, 1)])).toEqual(['done', 'done'])
  })

  it('writes each commit of a batch separately and returns the outcomes in order', async () => {
    const actor = fresh('ses')
    await store().commits.append([commitOf(actor, 1), commitOf(actor, 2)])
    const outcomes = await store().commits.append([
      commitOf(actor, 3),
      commitOf(actor, 2, { cause: 'late' }),
      commitOf(actor, 4, { cause: 'cause:1' }),
      commitOf(actor, 4),
    ])
    expect(outcomes).toEqual(['done', 'overtaken', 'duplicate', 'done'])
    expect((await store().commits.head(actor))?.seq).toBe(4)
  })

  it('lets exactly one of many concurrent writers of a sequence number win', async () => {
    const actor = fresh('ses')
    const writers = Array.from({ length: 40 }, (_, i) => commitOf(actor, 1, { cause: `writer:${i}` }))
    const outcomes = (await Promise.all(writers.map((commit) => store().commits.append([commit])))).flat()
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === 'overtaken')).toHaveLength(39)
    const winner = writers[outcomes.indexOf('done')]
    expect((await store().commits.head(actor))?.nonce).toBe(winner?.nonce)
  })

  it('gives each of many concurrent callers its own outcomes', async () => {
    const actors = Array.from({ length: 150 }, () => fresh('ses'))
    await store().commits.append(actors.filter((_, i) => i % 3 === 0).map((actor) => commitOf(actor, 1)))
    const answers = await Promise.all(
      actors.map((actor) => store().commits.append([commitOf(actor, 1, { cause: 'new' }), commitOf(actor, 2)])),
    )
    for (const [i, answer] of answers.entries()) {
      expect(answer).toEqual([i % 3 === 0 ? 'overtaken' : 'done', 'done'])
    }
  })

  it('accepts an empty batch', async () => {
    expect(await store().commits.append([])).toEqual([])
  })

  it('keeps any JSON that a commit may contain', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 6 })), async (payload) => {
        const actor = fresh('ses')
        const plain = JSON.parse(JSON.stringify(payload))
        const events = [{ sequence: 1, event_type: 'x', payload: plain }]
        const commit = commitOf(actor, 1, { events, last_sequence: 1, snapshot: plain })
        expect(await store().commits.append([commit])).toEqual(['done'])
        expect(await store().commits.head(actor)).toEqual(commit)
      }),
      { numRuns: runsByDay(60) },
    )
  })

  it('keeps names that databases treat specially, next to commits without them', async () => {
    const [odd, deep, plain] = [fresh('ses'), fresh('ses'), fresh('ses')]
    const nested = JSON.parse(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`)
    const commits = [
      commitOf(odd, 1, { snapshot: { $ref: '#/x', 'a.b': 1, 'nul\u0000key': '\u0000', lone: '\ud800' } }),
      commitOf(deep, 1, { snapshot: nested }),
      commitOf(plain, 1),
    ]
    expect(await store().commits.append(commits)).toEqual(['done', 'done', 'done'])
    for (const commit of commits) expect(await store().commits.head(commit.actor)).toEqual(commit)
  })

  it('keeps commits of a quarter of a megabyte', async () => {
    const commits = Array.from({ length: 40 }, () =>
      commitOf(fresh('ses'), 1, { event: { type: 'é'.repeat(120_000) } }),
    )
    expect(await store().commits.append(commits)).toEqual(commits.map(() => 'done'))
    for (const commit of commits.slice(-2)) expect(await store().commits.head(commit.actor)).toEqual(commit)
  })
}
