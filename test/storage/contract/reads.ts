import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Commit, StoredLogEvent } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { runsByDay } from '#test/setup/at-night.ts'
import type { Subject } from '../contract.ts'
import { commitOf, gadgets, logOf, recordOf, widgets } from '../samples.ts'

/** Contract of reading commits and the log of events. */
export const readContract = ({ store, fresh }: Subject): void => {
  const readAll = async (actor: string, limit: number): Promise<readonly StoredLogEvent[]> => {
    const all: StoredLogEvent[] = []
    for (;;) {
      const page = await store().commits.events(actor, all.length, limit)
      all.push(...page)
      if (page.length < limit) return all
    }
  }

  it('finds nothing for an unknown actor', async () => {
    const actor = fresh('ses')
    expect(await store().commits.head(actor)).toBeNull()
    expect(await store().commits.at(actor, 1)).toBeNull()
    expect(await store().commits.byCause(actor, 'cause:1')).toBeNull()
    expect(await store().commits.events(actor, 0, 10)).toEqual([])
  })

  it('finds a commit by its sequence number and by its cause', async () => {
    const actor = fresh('ses')
    const commits = [commitOf(actor, 1), commitOf(actor, 2), commitOf(actor, 3)]
    await store().commits.append(commits)
    expect(await store().commits.at(actor, 2)).toEqual(commits[1])
    expect(await store().commits.byCause(actor, 'cause:3')).toEqual(commits[2])
    expect(await store().commits.at(actor, 4)).toBeNull()
  })

  it('returns the commit with the highest sequence number as head, also for more digits', async () => {
    const actor = fresh('ses')
    for (const seq of [9, 10, 99, 100, 1_000_000]) {
      await store().commits.append([commitOf(actor, seq)])
      expect((await store().commits.head(actor))?.seq).toBe(seq)
    }
  })

  it('reads the record with the id of an actor beside its newest commit, if it reads them together', async () => {
    const { commits, records } = store()
    const read = async (actor: string) => {
      const found = await commits.headBeside?.(actor, gadgets, 'prj_1')
      return found && [found.head?.seq ?? null, found.beside]
    }
    const [actor, marked, expired, foreign] = [fresh('ses'), fresh('ses'), fresh('ses'), fresh('ses')]
    for (const each of [actor, marked, expired, foreign]) await commits.append([commitOf(each, 9), commitOf(each, 10)])
    const only = fresh('ses')
    await records.insert(gadgets, recordOf(marked, { expires_at: 10_001 }))
    await records.insert(gadgets, recordOf(only))
    await records.insert(gadgets, recordOf(expired, { expires_at: 10_000 }))
    await records.insert(gadgets, recordOf(foreign, { project: 'prj_2' }))
    const all = await Promise.all([actor, marked, expired, foreign, only, fresh('ses')].map(read))
    const together = [
      [10, null],
      [10, recordOf(marked).data],
      [10, null],
      [10, null],
      [null, recordOf(only).data],
      [null, null],
    ]
    expect(all).toEqual(together.map((each) => (commits.headBeside === undefined ? undefined : each)))
    const found = await commits.headBeside?.(marked, gadgets, 'prj_1')
    if (found !== undefined) expect(found.head).toEqual(await commits.head(marked))
  })

  it('does not confuse an actor with another whose id starts the same', async () => {
    const actor = fresh('ses')
    const longer = `${actor}:0000000001`
    await store().commits.append([commitOf(longer, 5), commitOf(`${actor}0`, 6)])
    expect(await store().commits.head(actor)).toBeNull()
    await store().commits.append([commitOf(actor, 1)])
    expect((await store().commits.head(actor))?.seq).toBe(1)
    expect((await store().commits.head(longer))?.seq).toBe(5)
  })

  it('reads a log of any shape without gaps and in order, for any page size', async () => {
    const shape = fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(shape, fc.integer({ min: 1, max: 7 }), async (counts, limit) => {
        const actor = fresh('ses')
        const commits = logOf(actor, counts)
        await store().commits.append(commits)
        const expected = commits.flatMap(({ at, events }) => events.map((event) => ({ ...event, at })))
        expect(await readAll(actor, limit)).toEqual(expected)
      }),
      { numRuns: runsByDay(30) },
    )
  })

  it('reads the commits of one actor in order from any position, even if some are missing', async () => {
    const [actor, other] = [fresh('ses'), fresh('ses')]
    const commits = [1, 2, 9, 10, 11].map((seq) =>
      commitOf(actor, seq, { moved: seq === 1 ? [null, 'a'] : ['a', 'b'] }),
    )
    await store().commits.append([...commits.toReversed(), commitOf(`${actor}x`, 1), commitOf(other, 1)])
    expect(await store().commits.ofActor(actor, 0, 100)).toEqual(commits)
    expect(await store().commits.ofActor(actor, 2, 2)).toEqual(commits.slice(2, 4))
    expect(await store().commits.ofActor(actor, 11, 2)).toEqual([])
    expect(await store().commits.ofActor(actor, 0, 0)).toEqual([])
  })

  it('reads the log after a sequence in the middle of a commit', async () => {
    const actor = fresh('ses')
    await store().commits.append(logOf(actor, [3, 0, 4, 1]))
    const events = await store().commits.events(actor, 5, 100)
    expect(events.map(({ sequence }) => sequence)).toEqual([6, 7, 8])
    expect(await store().commits.events(actor, 8, 100)).toEqual([])
  })

  it('reads a log of 300 commits in one page', async () => {
    const actor = fresh('ses')
    await store().commits.append(logOf(actor, new Array(300).fill(2)))
    const events = await store().commits.events(actor, 1, 1_000)
    expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 599 }, (_, i) => i + 2))
  })

  it('reads nothing if the limit is zero', async () => {
    const actor = fresh('ses')
    await store().commits.append([commitOf(actor, 1, { open: true, due: 1 }), ...logOf(fresh('ses'), [2])])
    expect(await store().commits.events(actor, 0, 0)).toEqual([])
    expect(await store().commits.open({ limit: 0 })).toEqual([])
    expect(await store().commits.due({ now: 9, limit: 0 })).toEqual([])
    expect(await store().records.list(widgets, projectScope('prj_1'), { limit: 0 })).toEqual([])
  })

  it('keeps the events of a commit whose snapshot was removed', async () => {
    const actor = fresh('ses')
    const [commit] = logOf(actor, [2])
    if (!commit) throw new Error('no commit')
    await store().commits.append([commit])
    await store().commits.settle({ close: [], undue: [], retire: [commit] })
    const { snapshot: _, ...stripped } = commit
    expect(await store().commits.head(actor)).toStrictEqual(stripped)
    expect(await store().commits.events(actor, 0, 10)).toHaveLength(2)
  })

  it('pages through the commits of one project by actor and seq, each once, for any page size', async () => {
    const [project, other] = [fresh('prj'), fresh('prj')]
    const actors = [fresh('ses'), fresh('ses'), fresh('ses')]
    const commits = actors.flatMap((actor, i) =>
      [1, 2, 10, 11].slice(i).map((seq) => commitOf(actor, seq, { project })),
    )
    const foreign = [...actors, fresh('ses')].map((actor) => commitOf(`${actor}x`, 1, { project: other }))
    await store().commits.append([...commits.toReversed(), ...foreign])
    for (const limit of [1, 2, 5, 100]) {
      const seen: Commit[] = []
      for (;;) {
        const page = await store().commits.ofProject(project, seen.at(-1) ?? null, limit)
        expect(page.length).toBeLessThanOrEqual(limit)
        if (page.length === 0) break
        seen.push(...page)
      }
      expect(seen).toEqual(commits)
    }
    expect(await store().commits.ofProject(project, null, 0)).toEqual([])
    expect(await store().commits.ofProject(fresh('prj'), null, 5)).toEqual([])
  })

  it('pages through the commits of all projects, each once', async () => {
    const wanted = [fresh('prj'), fresh('prj')].flatMap((project) => {
      const actor = fresh('ses')
      return [1, 2, 10].map((seq) => commitOf(actor, seq, { project }))
    })
    await store().commits.append(wanted.toReversed())
    const seen: Commit[] = []
    for (;;) {
      const page = await store().commits.ofProject(null, seen.at(-1) ?? null, 3)
      if (page.length === 0) break
      seen.push(...page)
    }
    const keys = seen.map(({ actor, seq }) => `${actor}:${seq}`)
    expect(new Set(keys).size).toBe(keys.length)
    expect(seen.filter(({ nonce }) => wanted.some((commit) => commit.nonce === nonce))).toHaveLength(wanted.length)
  })

  it('forgets one actor completely and no other', async () => {
    const [gone, kept] = [fresh('ses'), fresh('ses')]
    await store().commits.append([...logOf(gone, [1, 1]), ...logOf(kept, [1])])
    await store().commits.forget(gone)
    expect(await store().commits.head(gone)).toBeNull()
    expect(await store().commits.byCause(gone, 'cause:1')).toBeNull()
    expect(await store().commits.events(gone, 0, 10)).toEqual([])
    expect((await store().commits.head(kept))?.seq).toBe(1)
    expect(await store().commits.append([commitOf(gone, 1)])).toEqual(['done'])
  })
}
