import { beforeEach, expect, it } from 'vitest'
import type { Ledger } from '#runtime/log/ledger.ts'
import { type RowDifference, rebuildRows } from '#runtime/rows/rebuild-rows.ts'
import type { RecordKind, Storage, StoredRecord } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { openProbe, owner, probeRows } from '../probe.ts'
import { probeDefinition } from '../probe-machine.ts'

const counts: RecordKind = { name: 'counts' }

/** A row for each count event. */
const ledger: Ledger = ({ actor, seq, at, event, project, tenant }, { user }) => {
  if (event.type !== 'count') return []
  const times = { version: 1, created_at: at, updated_at: at, expires_at: null }
  const data = { n: event.n ?? null, user }
  return [{ kind: counts, record: { id: `${actor}:${seq}`, project, tenant, user, ...times, data } }]
}

const scope = projectScope(owner.project)
const actors = Array.from({ length: 30 }, (_, at) => `prb_${String(at).padStart(3, '0')}`)

let storage: Storage
let clock: VirtualClock

beforeEach(async () => {
  storage = openMemoryStorage()
  clock = new VirtualClock()
  await storage.records.prepare([counts])
  const probe = await openProbe({ storage, ledger, clock })
  for (const actor of actors) {
    await probe.create(actor)
    for (let n = 0; n < 12; n++) await probe.deliver(actor, { type: 'count', n })
  }
  await clock.advance(120_000)
})

const listed = async (): Promise<readonly StoredRecord[]> => {
  const query = { limit: 1000, ascending: true }
  return [
    ...(await storage.records.list(probeRows, scope, query)),
    ...(await storage.records.list(counts, scope, query)),
  ]
}

const rebuilt = async (checkOnly = false) => {
  const rows = { probe: probeRows }
  const working = rebuildRows({ storage, definitions: [probeDefinition], rows, ledger, clock, checkOnly })
  for (let waits = 0; waits < 200; waits++) await clock.advance(100)
  return working
}

const named = (differences: readonly RowDifference[]) =>
  differences.map(({ kind, id, what }) => `${kind} ${id} ${what}`).sort()

it('finds no difference if every row matches its commit', async () => {
  const before = await listed()
  expect(before).toHaveLength(30 * 13)
  expect(await rebuilt()).toEqual({ actors: 30, commits: 30 * 13, compared: 30 * 13, differences: [], unreadable: [] })
  expect(await listed()).toEqual(before)
})

it('reads few logs at once, since a store has few connections', async () => {
  const { head } = storage.commits
  let [running, max] = [0, 0]
  storage.commits.head = async (actor) => {
    max = Math.max(max, ++running)
    await Promise.resolve()
    running--
    return head.call(storage.commits, actor)
  }
  await rebuilt()
  expect(max).toBe(8)
})

it('restores lost rows and rows that differ from their commits, and names each', async () => {
  const before = await listed()
  await storage.records.remove(probeRows, scope, 'prb_003')
  await storage.records.remove(counts, scope, 'prb_005:4')
  const wrong = before.find(({ id }) => id === 'prb_007')
  if (wrong === undefined) throw new Error('no row')
  await storage.records.replace(probeRows, { ...wrong, version: wrong.version + 1, data: { ...wrong.data, bad: true } })
  const differences = ['counts prb_005:4 missing', 'probes prb_003 missing', 'probes prb_007 other']

  expect(named((await rebuilt(true)).differences)).toEqual(differences)
  expect(await listed(), 'a check writes nothing').toHaveLength(before.length - 2)
  expect(named((await rebuilt()).differences)).toEqual(differences)
  expect((await listed()).map(({ updated_at: _, ...row }) => row)).toEqual(
    before.map(({ updated_at: _, ...row }) => row),
  )
  expect((await rebuilt()).differences).toEqual([])
})

it('removes a list row whose actor is gone, and keeps ledger rows without a commit', async () => {
  await storage.commits.forget('prb_009')
  expect(named((await rebuilt()).differences)).toEqual(['probes prb_009 left_over'])
  const ids = (await listed()).map(({ id }) => id)
  expect(ids).not.toContain('prb_009')
  expect(ids.filter((id) => id.startsWith('prb_009:'))).toHaveLength(12)
})

it('does not restore a user who was removed from a ledger row', async () => {
  const row = (await listed()).find(({ id }) => id === 'prb_001:2')
  if (row === undefined) throw new Error('no row')
  const forgotten = { ...row, user: null, version: 2, data: { ...row.data, user: null } }
  await storage.records.replace(counts, forgotten)
  expect((await rebuilt()).differences).toEqual([])
  expect(await storage.records.get(counts, scope, 'prb_001:2')).toEqual(forgotten)
})

it('does not report a row that is written a moment later', async () => {
  const [row] = (await listed()).filter(({ id }) => id === 'prb_002')
  if (row === undefined) throw new Error('no row')
  await storage.records.remove(probeRows, scope, row.id)
  clock.after(500, () => void storage.records.project([{ kind: probeRows, record: row }]))
  expect((await rebuilt()).differences).toEqual([])
})

it('leaves the row of an actor that cannot be restored unchanged, and names the actor', async () => {
  const head = await storage.commits.head('prb_011')
  if (head === null) throw new Error('no commit')
  const snapshot = { ...head.snapshot, value: 'nowhere' }
  const event = { type: 'say' }
  await storage.commits.append([{ ...head, seq: head.seq + 1, cause: 'odd', nonce: 'odd', event, snapshot }])
  expect(await rebuilt()).toMatchObject({ differences: [], unreadable: ['prb_011'] })
})
