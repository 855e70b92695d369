import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { StoredRecord } from '#storage/ports.ts'
import { projectScope, type Scope } from '#storage/scope.ts'
import { runsByDay } from '#test/setup/at-night.ts'
import type { Capabilities, Subject } from '../contract.ts'
import { badges, gadgets, recordOf, widgets } from '../samples.ts'

/** Contract of writing records, with version checks and unique keys. */
export const recordContract = ({ store, fresh, setNow }: Subject, has: Capabilities): void => {
  const scope = projectScope('prj_1')

  it('returns a record as it was inserted', async () => {
    const record = recordOf(fresh('wid'), {
      tenant: 'ten_1',
      user: 'u',
      expires_at: 99_000,
      data: { a: [1, { b: null }] },
    })
    expect(await store().records.insert(widgets, record)).toBe('done')
    expect(await store().records.get(widgets, scope, record.id)).toEqual(record)
    expect(await store().records.get(gadgets, scope, record.id)).toBeNull()
  })

  it('keeps any JSON that a record may contain', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (value) => {
        const record = recordOf(fresh('gad'), { data: { value: JSON.parse(JSON.stringify(value)) } })
        await store().records.insert(gadgets, record)
        expect(await store().records.get(gadgets, scope, record.id)).toEqual(record)
      }),
      { numRuns: runsByDay(40) },
    )
  })

  it('does not insert an id twice', async () => {
    const record = recordOf(fresh('wid'))
    await store().records.insert(widgets, record)
    expect(await store().records.insert(widgets, { ...record, data: {} })).toBe('exists')
    expect(await store().records.get(widgets, scope, record.id)).toEqual(record)
  })

  it.skipIf(has.foreignIds === false)('does not insert the id of another project', async () => {
    const record = recordOf(fresh('wid'))
    await store().records.insert(widgets, record)
    expect(await store().records.insert(widgets, { ...record, project: 'prj_2' })).toBe('exists')
  })

  it('inserts many records at once, each with its own outcome', async () => {
    const named = (name: string) => recordOf(fresh('wid'), { data: { external_id: fresh(name) } })
    const [first, second, third] = [named('a'), named('b'), named('c')]
    await store().records.insert(widgets, second)
    const twin = recordOf(fresh('wid'), { data: first.data })
    const outcomes = await store().records.insertMany(widgets, [first, second, twin, third])
    expect(outcomes).toEqual(['done', 'exists', 'exists', 'done'])
    expect(await store().records.get(widgets, scope, third.id)).toEqual(third)
    expect(await store().records.get(widgets, scope, twin.id)).toBeNull()
    expect(await store().records.insertMany(widgets, [])).toEqual([])
  })

  it('reads many records at once, limited to those that exist within the scope', async () => {
    const [mine, foreign, gone, other] = [
      recordOf(fresh('wid'), { user: 'u', data: { a: 1 } }),
      recordOf(fresh('wid'), { project: 'prj_2' }),
      recordOf(fresh('wid'), { user: 'u', expires_at: 99_000 }),
      recordOf(fresh('wid'), { user: 'v' }),
    ]
    await store().records.insertMany(widgets, [mine, foreign, gone, other])
    const ids = [other, foreign, mine, mine, gone].map(({ id }) => id)
    const read = async (at: Scope): Promise<readonly StoredRecord[]> =>
      [...(await store().records.getMany(widgets, at, [...ids, 'wid_none', "'; --"]))].sort((a, b) =>
        a.id < b.id ? -1 : 1,
      )
    const sorted = (records: readonly StoredRecord[]) => [...records].sort((a, b) => (a.id < b.id ? -1 : 1))
    expect(await read(scope)).toEqual(sorted([mine, gone, other]))
    expect(await read({ ...scope, user: 'u' })).toEqual(sorted([mine, gone]))
    setNow(99_001)
    expect(await read({ ...scope, user: 'u' })).toEqual([mine])
    expect(await store().records.getMany(gadgets, scope, ids)).toEqual([])
    expect(await store().records.getMany(widgets, scope, [])).toEqual([])
  })

  it('enforces a unique key within its project only', async () => {
    const data = { external_id: fresh('ext') }
    expect(await store().records.insert(widgets, recordOf(fresh('wid'), { data }))).toBe('done')
    expect(await store().records.insert(widgets, recordOf(fresh('wid'), { data }))).toBe('exists')
    expect(await store().records.insert(widgets, recordOf(fresh('wid'), { data, project: 'prj_2' }))).toBe('done')
  })

  it('enforces a global unique key across projects and finds its record', async () => {
    const data = { hash: fresh('hash') }
    const record = recordOf(fresh('wid'), { data })
    expect(await store().records.insert(badges, record)).toBe('done')
    expect(await store().records.insert(badges, recordOf(fresh('wid'), { data, project: 'prj_2' }))).toBe('exists')
    expect(await store().records.findGlobal(badges, data)).toEqual(record)
    expect(await store().records.findGlobal(badges, { hash: 'unknown' })).toBeNull()
    await expect(store().records.findGlobal(badges, { external_id: 'x' })).rejects.toThrow('no global unique key')
  })

  it('enforces a unique key over two fields, unless a field is missing or null', async () => {
    const owner = fresh('own')
    const insert = (data: { owner?: string; slug?: string | null }) =>
      store().records.insert(widgets, recordOf(fresh('wid'), { data }))
    expect(await insert({ owner, slug: 'a' })).toBe('done')
    expect(await insert({ owner, slug: 'b' })).toBe('done')
    expect(await insert({ owner, slug: 'a' })).toBe('exists')
    for (let i = 0; i < 2; i++) {
      expect(await insert({ owner })).toBe('done')
      expect(await insert({ owner, slug: null })).toBe('done')
    }
  })

  it('finds a record by its unique key, and refuses a search without an index', async () => {
    const owner = fresh('own')
    const record = recordOf(fresh('wid'), { data: { owner, slug: 's' } })
    await store().records.insert(widgets, record)
    expect(await store().records.find(widgets, scope, { slug: 's', owner })).toEqual(record)
    expect(await store().records.find(widgets, scope, { slug: 'other', owner })).toBeNull()
    await expect(store().records.find(widgets, scope, { owner })).rejects.toThrow('no unique key')
  })

  it('lets one of many concurrent inserts of a unique key win', async () => {
    const data = { external_id: fresh('ext') }
    const inserts = Array.from({ length: 20 }, () => store().records.insert(widgets, recordOf(fresh('wid'), { data })))
    const outcomes = await Promise.all(inserts)
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1)
  })

  it('replaces a record at the preceding version only', async () => {
    const record = recordOf(fresh('wid'))
    await store().records.insert(widgets, record)
    const second = { ...record, version: 2, updated_at: 3_000, data: { status: 'off' } }
    expect(await store().records.replace(widgets, second)).toBe('done')
    expect(await store().records.replace(widgets, second)).toBe('conflict')
    expect(await store().records.replace(widgets, { ...second, version: 4 })).toBe('conflict')
    expect(await store().records.replace(widgets, { ...second, version: 3, project: 'prj_2' })).toBe('missing')
    expect(await store().records.replace(widgets, recordOf(fresh('wid'), { version: 2 }))).toBe('missing')
    expect(await store().records.get(widgets, scope, record.id)).toEqual(second)
  })

  it('lets one of many concurrent replaces of a version win', async () => {
    const record = recordOf(fresh('wid'))
    await store().records.insert(widgets, record)
    const writers = Array.from({ length: 20 }, (_, i) => ({ ...record, version: 2, data: { status: `s${i}` } }))
    const outcomes = await Promise.all(writers.map((next) => store().records.replace(widgets, next)))
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1)
    const winner = writers[outcomes.indexOf('done')]
    expect(await store().records.get(widgets, scope, record.id)).toEqual(winner)
  })

  it('refuses a replacement with the unique key of another record as a conflict, and allows a free key', async () => {
    const [mine, foreign, next] = [fresh('ext'), fresh('ext'), fresh('ext')]
    const record = recordOf(fresh('wid'), { data: { external_id: mine } })
    await store().records.insert(widgets, record)
    await store().records.insert(widgets, recordOf(fresh('wid'), { data: { external_id: foreign } }))
    const moved = { ...record, version: 2, data: { external_id: foreign } }
    expect(await store().records.replace(widgets, moved)).toBe('conflict')
    expect(await store().records.replace(widgets, { ...moved, data: { external_id: next } })).toBe('done')
    expect(await store().records.find(widgets, scope, { external_id: mine })).toBeNull()
    expect(await store().records.insert(widgets, recordOf(fresh('wid'), { data: { external_id: mine } }))).toBe('done')
  })

  it('removes a record once', async () => {
    const record = recordOf(fresh('wid'))
    await store().records.insert(widgets, record)
    expect(await store().records.remove(widgets, scope, record.id)).toBe(true)
    expect(await store().records.remove(widgets, scope, record.id)).toBe(false)
    expect(await store().records.get(widgets, scope, record.id)).toBeNull()
  })

  it('hides an expired record everywhere, and frees its id and keys', async () => {
    setNow(10_000)
    const data = { hash: fresh('hash'), status: 'passing' }
    const record = recordOf(fresh('wid'), { expires_at: 12_000, data })
    await store().records.insert(badges, record)
    setNow(11_999)
    expect(await store().records.get(badges, scope, record.id)).toEqual(record)
    expect(await store().records.insert(badges, record)).toBe('exists')
    setNow(12_000)
    expect(await store().records.get(badges, scope, record.id)).toBeNull()
    expect(
      await store()
        .records.findGlobal(badges, data)
        .catch(() => 'refused'),
    ).toBe('refused')
    expect(await store().records.findGlobal(badges, { hash: data.hash })).toBeNull()
    expect(await store().records.list(badges, scope, { where: { status: 'passing' }, limit: 5 })).toEqual([])
    expect(await store().records.count(badges, scope, { status: 'passing' })).toBe(0)
    expect(await store().records.replace(badges, { ...record, version: 2 })).toBe('missing')
    expect(await store().records.remove(badges, scope, record.id)).toBe(false)
    const again = { ...record, expires_at: null, updated_at: 12_000 }
    expect(await store().records.insert(badges, again)).toBe('done')
    expect(await store().records.get(badges, scope, record.id)).toEqual(again)
  })

  it('frees the unique key of an expired record for a record with another id', async () => {
    setNow(10_000)
    const data = { external_id: fresh('ext') }
    await store().records.insert(widgets, recordOf(fresh('wid'), { expires_at: 10_500, data }))
    const next = recordOf(fresh('wid'), { data })
    expect(await store().records.insert(widgets, next)).toBe('exists')
    setNow(10_500)
    expect(await store().records.insert(widgets, next)).toBe('done')
    expect(await store().records.find(widgets, scope, data)).toEqual(next)
    setNow(10_000)
  })

  it('finds the records of every project that are due, the earliest first, and no others', async () => {
    setNow(10_000)
    const timed = { ...gadgets, name: 'timed', due: 'removed_at' }
    await store().records.prepare([timed])
    const at = (minute: number) => ({ removed_at: `2026-01-01T00:0${minute}:00.000Z` })
    const made = [at(3), {}, at(1), at(2), { removed_at: null }].map((data) => recordOf(fresh('tim'), { data }))
    const gone = recordOf(fresh('tim'), { data: at(0), expires_at: 9_000 })
    for (const record of [...made, gone]) await store().records.insert(timed, record)
    const due = (time: string, limit = 9) => store().records.due(timed, time, limit)
    expect(await due(at(0).removed_at)).toEqual([])
    expect(await due(at(2).removed_at)).toEqual([made[2], made[3]])
    expect(await due(at(9).removed_at, 2)).toEqual([made[2], made[3]])
    const [, , first] = made
    if (first !== undefined) await store().records.replace(timed, { ...first, version: 2, data: at(5) })
    expect((await due(at(3).removed_at)).map(({ id }) => id)).toEqual([made[3]?.id, made[0]?.id])
    await expect(store().records.due(gadgets, at(9).removed_at, 9)).rejects.toThrow('no records that are due')
  })

  it('sweeps at most the given number of records at once', async () => {
    setNow(10_000)
    const swept = { ...gadgets, name: 'swept_in_parts' }
    await store().records.prepare([swept])
    for (let n = 0; n < 5; n++) await store().records.insert(swept, recordOf(fresh('swp'), { expires_at: 11_000 }))
    const removed: number[] = []
    for (let n = 0; n < 3; n++) removed.push(await store().records.sweep(swept, 12_000, 2))
    expect(removed).toEqual([2, 2, 1])
    expect(await store().records.sweep(swept, 12_000, 2)).toBe(0)
  })

  it('sweeps expired records and returns their number', async () => {
    setNow(10_000)
    const swept = { ...gadgets, name: 'swept' }
    await store().records.prepare([swept])
    for (const expires_at of [20_000, 20_001, null]) {
      await store().records.insert(swept, recordOf(fresh('swe'), { expires_at }))
    }
    expect(await store().records.sweep(swept, 19_999)).toBe(0)
    expect(await store().records.sweep(swept, 20_000)).toBe(1)
    expect(await store().records.sweep(swept, 20_000)).toBe(0)
    expect(await store().records.count(swept, scope)).toBe(2)
  })
}
