import { pino } from 'pino'
import { beforeEach, expect, it } from 'vitest'
import { Overloaded } from '#runtime/overloaded.ts'
import { RowWriter } from '#runtime/rows/row-writer.ts'
import { type RecordStore, StoreUnavailable } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { Random } from '#test/simulation/world/random.ts'
import { recordOf, widgets } from '#test/storage/samples.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'

let faulty: FaultyStorage
let clock: VirtualClock
let rows: RowWriter

beforeEach(async () => {
  faulty = new FaultyStorage(openMemoryStorage())
  await faulty.inner.records.prepare([widgets])
  clock = new VirtualClock()
  rows = new RowWriter({ records: faulty.storage.records, clock, log: pino({ level: 'silent' }) })
})

const put = (version: number, id = 'w_1'): void =>
  rows.put({ id, actor: id, kind: widgets, record: () => recordOf(id, { version }) })
const stored = async (id = 'w_1'): Promise<number | undefined> =>
  (await faulty.inner.records.get(widgets, projectScope('prj_1'), id))?.version

it('has written every earlier row when settled resolves', async () => {
  for (let version = 1; version <= 20; version++) put(version)
  put(1, 'w_2')
  await rows.settled()
  expect([await stored(), await stored('w_2')]).toEqual([20, 1])
})

it('has written every row each time settled resolves', async () => {
  for (let version = 1; version <= 5; version++) {
    put(version)
    await rows.settled()
    expect(await stored()).toBe(version)
  }
})

it('resolves at once if no row waits', async () => {
  expect(await Promise.race([rows.settled().then(() => 'settled'), calm()])).toBe('settled')
})

it('settles although rows arrive faster than they are written', async () => {
  let version = 0
  let stop = false
  const flood = (): void => {
    put(++version)
    if (!stop) setImmediate(flood)
  }
  flood()
  await calm()
  const requestCount = version
  await rows.settled()
  stop = true
  expect(await stored()).toBeGreaterThanOrEqual(requestCount)
})

it('includes a row that arrives while another batch is written', async () => {
  put(1)
  await new Promise<void>((resolve) => setImmediate(resolve))
  put(2)
  await rows.settled()
  expect(await stored()).toBe(2)
})

it('also settles other deferred writes, even if no row waits', async () => {
  const settled: string[] = []
  rows.alongside(async () => void settled.push('calls'))
  await rows.settled()
  await rows.shown()
  expect(settled).toEqual(['calls', 'calls'])
})

it('writes once for all concurrent callers', async () => {
  let writes = 0
  const records = {
    ...faulty.inner.records,
    project: async () => {
      writes++
      await new Promise<void>((resolve) => setImmediate(resolve))
    },
  }
  const writer = new RowWriter({ records, clock, log: pino({ level: 'silent' }) })
  const waiters: Promise<void>[] = []
  for (let n = 0; n < 50; n++) {
    writer.put({ id: 'w_1', actor: 'w_1', kind: widgets, record: () => recordOf('w_1', { version: n + 1 }) })
    waiters.push(writer.settled())
  }
  await Promise.all(waiters)
  expect(writes).toBeLessThanOrEqual(2)
})

it('does not settle before a store that was away has the rows', async () => {
  faulty.away = true
  put(1)
  let settled = false
  const done = rows.settled().then(() => {
    settled = true
  })
  await clock.advance(10_000)
  expect([settled, rows.waits('w_1')]).toEqual([false, true])
  faulty.away = false
  await clock.advance(10_000)
  await done
  expect([await stored(), rows.waits('w_1')]).toEqual([1, false])
})

it('waits for the row of one actor until it is written, and not for an actor without one', async () => {
  let written = false
  faulty.away = true
  put(1)
  const waiting = rows.writtenOf('w_1').then(() => {
    written = true
  })
  await rows.writtenOf('w_2')
  await clock.advance(100)
  expect(written).toBe(false)
  faulty.away = false
  await clock.advance(5000)
  await waiting
  expect(await stored()).toBe(1)
})

it('writes the row that a request waits for at once, and the others 200 ms after they came', async () => {
  put(1, 'w_1')
  await clock.advance(100)
  put(1, 'w_2')
  put(1, 'w_3')
  await Promise.all([rows.shownOf('w_2'), rows.shownOf('w_3')])
  expect([await stored('w_1'), await stored('w_2'), await stored('w_3')]).toEqual([undefined, 1, 1])
  put(2, 'w_2')
  await clock.advance(99)
  expect([await stored('w_1'), await stored('w_2')]).toEqual([undefined, 1])
  await clock.advance(1)
  expect([await stored('w_1'), await stored('w_2')]).toEqual([1, 2])
})

it('writes all rows for a reader of all who comes after a request that waits for one', async () => {
  put(1, 'w_1')
  put(1, 'w_2')
  const one = rows.shownOf('w_1')
  await Promise.all([rows.shown(), one])
  expect([await stored('w_1'), await stored('w_2')]).toEqual([1, 1])
})

it('lets reads wait for a slow store, and throws Overloaded if that takes too long', async () => {
  let release: () => void = () => {}
  const project = () =>
    new Promise<void>((resolve) => {
      release = resolve
    })
  const writer = new RowWriter({
    records: { ...faulty.inner.records, project },
    clock,
    log: pino({ level: 'silent' }),
  })
  const outcomeOf = async (afterMs: number): Promise<unknown> => {
    writer.put({ id: 'w_1', actor: 'w_1', kind: widgets, record: () => recordOf('w_1', { version: 1 }) })
    let outcome: unknown = 'waits'
    void writer.shown().then(
      () => {
        outcome = 'shown'
      },
      (error: unknown) => {
        outcome = error
      },
    )
    await clock.advance(afterMs)
    if (outcome === 'waits') release()
    await calm()
    return outcome
  }
  expect(await outcomeOf(15_000)).toBe('shown')
  expect(await outcomeOf(30_000)).toBeInstanceOf(Overloaded)
})

it('writes only the newest of the rows of one actor that arrive within 200 ms', async () => {
  const written: number[] = []
  for (let version = 1; version <= 4; version++) {
    rows.put({
      ...{ id: 'w_1', actor: 'w_1', kind: widgets },
      record: () => {
        written.push(version)
        return recordOf('w_1', { version })
      },
    })
    await clock.advance(49)
  }
  expect([await stored(), written]).toEqual([undefined, []])
  await clock.advance(4)
  expect([await stored(), written]).toEqual([4, [4]])
})

it('stops collecting rows once a caller waits for one', async () => {
  put(1)
  rows.hurry()
  await calm()
  expect(await stored()).toBe(1)
})

/** A writer on a store that refuses a whole call, as if it were away, when it refuses one of its rows. */
const writerOn = (refuses: (id: string) => boolean) => {
  const calls: number[] = []
  const project: RecordStore['project'] = async (batch) => {
    calls.push(batch.length)
    if (batch.filter(({ record }) => refuses(record.id)).length > 0) throw new StoreUnavailable('refused')
    await faulty.inner.records.project(batch)
  }
  rows = new RowWriter({ records: { ...faulty.inner.records, project }, clock, log: pino({ level: 'silent' }) })
  return calls
}

it('writes 200 rows within seconds to a store that refuses one in twelve each time', async () => {
  const random = new Random(71)
  const calls = writerOn(() => random.chance(0.08))
  for (let n = 0; n < 200; n++) put(1, `w_${n}`)
  const settled = rows.settled()
  await clock.advance(15_000)
  expect(rows.size).toBe(0)
  await settled
  expect(calls.length).toBeLessThan(200)
})

it('calls a store that is away no more often for a large batch, and writes all at once when it is back', async () => {
  let away = true
  const calls = writerOn(() => away)
  for (let n = 0; n < 1000; n++) put(1, `w_${n}`)
  await clock.advance(60_000)
  expect(calls.length).toBeLessThan(40)
  const before = calls.length
  away = false
  await clock.advance(3000)
  expect([rows.size, calls.length - before < 15]).toEqual([0, true])
})

it('writes many rows in calls of at most 1,000, which a store takes in one statement', async () => {
  const calls: number[] = []
  const { project } = faulty.storage.records
  const records: RecordStore = {
    ...faulty.storage.records,
    project: (some) => {
      calls.push(some.length)
      return project(some)
    },
  }
  rows = new RowWriter({ records, clock, log: pino({ level: 'silent' }) })
  for (let n = 0; n < 5_000; n++) put(1, `w_${n}`)
  await rows.settled()
  expect(calls).toEqual([1_000, 1_000, 1_000, 1_000, 1_000])
})

it('writes all other rows, later ones too, while one is refused as if the store were away; reports that one', async () => {
  writerOn((id) => id === 'w_7')
  const refused: string[] = []
  rows.listen({ refused: ({ id }) => refused.push(id), taken: () => {} })
  for (let n = 0; n < 50; n++) put(1, `w_${n}`)
  await clock.advance(5000)
  expect(rows.size).toBe(1)
  for (let n = 50; n < 65; n++) {
    put(1, `w_${n}`)
    await clock.advance(3000)
    expect(await stored(`w_${n}`)).toBe(1)
  }
  expect([refused, rows.waits('w_7')]).toEqual([['w_7'], true])
  await rows.settled()
})

it('refuses no row while the store accepts none', async () => {
  writerOn(() => true)
  const refused: string[] = []
  rows.listen({ refused: ({ id }) => refused.push(id), taken: () => {} })
  for (let n = 0; n < 30; n++) {
    put(1, `w_${n}`)
    await clock.advance(5000)
  }
  expect([refused, rows.size]).toEqual([[], 30])
})
