import { beforeEach, expect, it } from 'vitest'
import { boundRecords } from '#records/bound-records.ts'
import type { Ledger } from '#runtime/log/ledger.ts'
import type { RecordKind, Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import { openProbe, owner } from '../probe.ts'

const counts: RecordKind = { name: 'counts' }

/** A row for each count event. */
const ledger: Ledger = ({ actor, seq, at, event, project, tenant }, { user }) => {
  if (event.type !== 'count') return []
  const times = { version: 1, created_at: at, updated_at: at, expires_at: null }
  const id = `${actor}:${seq}`
  return [{ kind: counts, record: { id, project, tenant, user, ...times, data: { n: event.n ?? null } } }]
}

let storage: Storage

beforeEach(async () => {
  storage = openMemoryStorage()
  await storage.records.prepare([counts])
})

const counted = async (): Promise<readonly unknown[]> => {
  const rows = await storage.records.list(counts, projectScope(owner.project), { limit: 1000, ascending: true })
  return rows.map(({ data }) => data.n)
}

const someMs = 1000
const actor = 'prb_1'

/** A store whose ledger rows are not written until `open`; other rows are. */
const withLedgerHeld = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const records = boundRecords(storage.records)
  const held: Storage = {
    ...storage,
    records: {
      ...records,
      project: async (rows) => {
        if (rows.some(({ kind }) => kind === counts)) await promise
        await records.project(rows)
      },
    },
  }
  return { held, open: resolve }
}

it('has one row for every commit that requires one', async () => {
  const probe = await openProbe({ storage, ledger })
  await probe.create(actor)
  for (let n = 0; n < 20; n++) await probe.deliver(actor, { type: 'count', n })
  await probe.clock.advance(someMs)
  expect(await counted()).toEqual(expect.arrayContaining(Array.from({ length: 20 }, (_, n) => n)))
  expect(await counted()).toHaveLength(20)
})

it('writes the rows that a crash left unwritten before it accepts requests, and no row twice', async () => {
  const faulty = new FaultyStorage(storage)
  const first = await openProbe({ storage: faulty.storage, ledger })
  await first.create(actor)
  for (let n = 0; n < 8; n++) await first.deliver(actor, { type: 'count', n })
  faulty.crash()
  expect(await counted()).toEqual([])
  await openProbe({ storage, ledger })
  expect([...(await counted())].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  await openProbe({ storage, ledger })
  expect(await counted()).toHaveLength(8)
})

it('keeps a commit open until its rows are written, however many commits follow', async () => {
  const { held, open } = withLedgerHeld()
  const clock = new VirtualClock()
  const probe = await openProbe({ storage: held, ledger, clock })
  await probe.create(actor)
  for (let n = 0; n < 5; n++) await probe.deliver(actor, { type: 'count', n })
  for (let n = 0; n < 5; n++) await probe.deliver(actor, { type: 'say' })
  await clock.advance(10_000)
  const openSeqs = async () => (await storage.commits.open({ limit: 100 })).map(({ seq }) => seq)
  expect(await openSeqs()).toEqual(expect.arrayContaining([2, 3, 4, 5, 6]))
  open()
  await clock.advance(10_000)
  expect(await openSeqs()).toEqual([])
  expect(await counted()).toHaveLength(5)
})

it('keeps an actor in memory until its rows are written', async () => {
  const { held, open } = withLedgerHeld()
  const clock = new VirtualClock()
  const probe = await openProbe({ storage: held, ledger, clock })
  await probe.create(actor)
  await clock.advance(someMs)
  await probe.deliver(actor, { type: 'count', n: 1 })
  await clock.advance(100)
  const resident = await probe.find(actor)
  expect(probe.host.passivate(resident)).toBe(false)
  open()
  await clock.advance(100)
  expect(probe.host.passivate(resident)).toBe(true)
})

it('lets an effect wait for the ledger rows of its actor', async () => {
  const { held, open } = withLedgerHeld()
  const clock = new VirtualClock()
  let answered = false
  const probe = await openProbe({
    storage: held,
    ledger,
    clock,
    work: async (_params, { delivered }) => {
      await delivered()
      answered = true
      return { event: { type: 'worked', output: 'fine' } }
    },
  })
  await probe.create(actor)
  await clock.advance(someMs)
  await probe.deliver(actor, { type: 'count', n: 1 })
  await probe.deliver(actor, { type: 'work', policy: 'idempotent' })
  await clock.advance(someMs)
  expect(answered).toBe(false)
  open()
  await calm()
  expect(answered).toBe(true)
})
