import { expect, it } from 'vitest'
import type { Commit, EffectParts, StoredLogEvent } from '#storage/ports.ts'
import type { Subject } from '../contract.ts'
import { commitOf, eventsOf } from '../samples.ts'

/** A session with one turn of `parts` parts: commit 1 begins it, the last ends it, and each has one event. */
const turnOf = (actor: string, parts: number, change: Partial<Commit> = {}): readonly Commit[] =>
  Array.from({ length: parts + 2 }, (_, index) => {
    const seq = index + 1
    const isPart = seq > 1 && seq < parts + 2
    const cause = isPart ? `${actor}:1:0#${seq - 1}` : `cause:${seq}`
    return commitOf(actor, seq, { cause, events: eventsOf(seq, seq), last_sequence: seq, ...(isPart && change) })
  })

const partsIn = (actor: string, parts: number): EffectParts => ({
  actor,
  effect: `${actor}:1:0`,
  after: 1,
  before: parts + 2,
  epoch: 1,
})

/** Contract of merging the parts of an effect. */
export const mergeContract = ({ store, fresh }: Subject): void => {
  const pages = async (actor: string, limit: number): Promise<readonly StoredLogEvent[]> => {
    const read: StoredLogEvent[] = []
    for (;;) {
      const page = await store().commits.events(actor, read.at(-1)?.sequence ?? 0, limit)
      if (page.length === 0) return read
      read.push(...page)
    }
  }

  it('returns the same events with the same times to readers at any position', async () => {
    const actor = fresh('ses')
    await store().commits.append(turnOf(actor, 40))
    const before = await store().commits.events(actor, 0, 100)
    expect(await store().commits.merge(partsIn(actor, 40))).toEqual({ kind: 'removed', commits: 39, next: null })
    expect(await store().commits.events(actor, 0, 100)).toEqual(before)
    for (let after = 0; after <= 42; after++) {
      expect(await store().commits.events(actor, after, 7)).toEqual(before.slice(after, after + 7))
    }
    expect(await pages(actor, 3)).toEqual(before)
  })

  it('keeps the commits that begin and end the effect, and one with all events between them', async () => {
    const actor = fresh('ses')
    await store().commits.append(turnOf(actor, 5))
    await store().commits.merge(partsIn(actor, 5))
    const left = await store().commits.ofProject('prj_1', { actor, seq: 0 }, 3)
    expect(left.map(({ seq, events }) => [seq, events.map(({ sequence }) => sequence)])).toEqual([
      [1, [1]],
      [6, [2, 3, 4, 5, 6]],
      [7, [7]],
    ])
    expect(left[1]?.snapshot).toBeUndefined()
    expect((await store().commits.head(actor))?.seq).toBe(7)
  })

  it('removes the commits that a written one replaces, and readers at any position see no difference', async () => {
    const actor = fresh('ses')
    const turn = turnOf(actor, 12)
    const [end] = turn.slice(-1)
    if (end === undefined) throw new Error('a turn ends')
    await store().commits.append(turn.slice(0, -1))
    const carried = turn.slice(1, -1).flatMap(({ at, events }) => events.map((event) => ({ at, ...event })))
    const before = await store().commits.events(actor, 0, 100)
    const whole = { ...end, events: [...carried, ...end.events], replaces: 12 }
    const reading = Array.from({ length: 10 }, () => pages(actor, 2))
    expect(await store().commits.append([whole])).toEqual(['done'])
    const log = [...before, ...end.events.map((event) => ({ ...event, at: end.at }))]
    for (const read of await Promise.all(reading)) expect(read.slice(0, before.length)).toEqual(before)
    for (let after = 0; after <= log.length; after++)
      expect(await store().commits.events(actor, after, 5)).toEqual(log.slice(after, after + 5))
    await expect.poll(async () => (await store().commits.ofActor(actor, 0, 20)).map(({ seq }) => seq)).toEqual([1, 14])
    expect(await store().commits.head(actor)).toMatchObject({ seq: 14, replaces: 12, snapshot: whole.snapshot })
    if (store().replacesAtOnce !== true) return
    const late = { ...end, seq: 8, cause: 'fence:9:8', nonce: 'late', events: [] }
    expect(await store().commits.append([late])).toEqual(['overtaken'])
  })

  it('removes nothing for a commit that is not written', async () => {
    const actor = fresh('ses')
    const [begun, first, second, end] = turnOf(actor, 2)
    if (!begun || !first || !second || !end) throw new Error('four commits')
    await store().commits.append([begun, first, second, end])
    const overtaken = { ...end, nonce: 'another', cause: 'another', replaces: 2 }
    const duplicate = { ...overtaken, cause: end.cause, seq: 5 }
    expect(await store().commits.append([overtaken, duplicate])).toEqual(['overtaken', 'duplicate'])
    expect(await store().commits.ofActor(actor, 0, 9)).toHaveLength(4)
  })

  it('removes what a replacing commit left', async () => {
    const actor = fresh('ses')
    const turn = turnOf(actor, 5)
    const [end] = turn.slice(-1)
    if (end === undefined) throw new Error('a turn ends')
    const carried = turn.slice(3, -1).flatMap(({ at, events }) => events.map((event) => ({ at, ...event })))
    // as after a crash between the write and the removal
    await store().commits.append([...turn.slice(0, -1), { ...end, events: [...carried, ...end.events] }])
    const before = await store().commits.events(actor, 0, 100)
    expect(before).toHaveLength(7)
    expect(await store().commits.merge(partsIn(actor, 5))).toEqual({ kind: 'removed', commits: 4, next: null })
    expect((await store().commits.ofActor(actor, 0, 20)).map(({ seq }) => seq)).toEqual([1, 3, 7])
    expect(await store().commits.events(actor, 0, 100)).toEqual(before)
    expect((await store().commits.head(actor))?.snapshot).toEqual(end.snapshot)
  })

  it('does nothing the second time', async () => {
    const actor = fresh('ses')
    await store().commits.append(turnOf(actor, 5))
    await store().commits.merge(partsIn(actor, 5))
    expect(await store().commits.merge(partsIn(actor, 5))).toEqual({ kind: 'removed', commits: 0, next: null })
    expect(await store().commits.events(actor, 0, 100)).toHaveLength(7)
  })

  it('waits for open or due commits', async () => {
    const [open, due] = [fresh('ses'), fresh('ses')]
    await store().commits.append([...turnOf(open, 3, { open: true }), ...turnOf(due, 3, { due: 5 })])
    expect(await store().commits.merge(partsIn(open, 3))).toEqual({ kind: 'waits' })
    expect(await store().commits.merge(partsIn(due, 3))).toEqual({ kind: 'waits' })
  })

  it('leaves the commits of an actor that a later process runs', async () => {
    const actor = fresh('ses')
    await store().commits.append([...turnOf(actor, 3), commitOf(actor, 6, { epoch: 2, last_sequence: 5 })])
    expect(await store().commits.merge(partsIn(actor, 3))).toEqual({ kind: 'overtaken' })
    expect(await store().commits.at(actor, 2)).not.toBeNull()
  })

  it('leaves commits of other effects and causes', async () => {
    const actor = fresh('ses')
    const [begun, first, second, third, ended] = turnOf(actor, 3)
    if (!begun || !first || !second || !third || !ended) throw new Error('five commits')
    const others = [{ ...second, cause: `${actor}:1:01#2` }]
    await store().commits.append([begun, first, ...others, third, ended])
    expect(await store().commits.merge(partsIn(actor, 3))).toEqual({ kind: 'removed', commits: 0, next: null })
    expect(await store().commits.events(actor, 0, 9)).toHaveLength(5)
  })

  it('keeps all events in order if there are more parts than one call merges', async () => {
    const actor = fresh('ses')
    const parts = 600
    await store().commits.append(turnOf(actor, parts))
    const before = await store().commits.events(actor, 0, 1000)
    for (let after: number | null = 1; after !== null; ) {
      const merged = await store().commits.merge({ ...partsIn(actor, parts), after })
      after = merged.kind === 'removed' ? merged.next : null
    }
    expect(await store().commits.events(actor, 0, 1000)).toEqual(before)
    expect(
      (await store().commits.ofProject('prj_1', { actor, seq: 0 }, 8)).filter((c) => c.actor === actor).length,
    ).toBeLessThan(6)
  })

  it('allows two processes to merge the same parts concurrently', async () => {
    const actor = fresh('ses')
    await store().commits.append(turnOf(actor, 60))
    const before = await store().commits.events(actor, 0, 100)
    const some = { ...partsIn(actor, 60), before: 40 }
    await Promise.all([partsIn(actor, 60), some, partsIn(actor, 60), some].map((each) => store().commits.merge(each)))
    expect(await store().commits.events(actor, 0, 100)).toEqual(before)
  })

  it('gives a concurrent reader every event once and in order', async () => {
    const actor = fresh('ses')
    const parts = 300
    await store().commits.append(turnOf(actor, parts))
    const before = await store().commits.events(actor, 0, 1000)
    const reading = Promise.all(Array.from({ length: 8 }, (_, index) => pages(actor, 5 + index * 17)))
    await store().commits.merge(partsIn(actor, parts))
    for (const read of await reading) expect(read).toEqual(before)
  })
}
