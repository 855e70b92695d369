import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { runRows } from '#actors/runs/kinds.ts'
import { Lanes, laneIdOf, queueIdOf } from '#actors/runs/lanes.ts'
import { pickRuns } from '#actors/runs/pick-runs.ts'
import { RowWriter } from '#runtime/rows/row-writer.ts'
import type { Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const project = 'prj_a'
const lane = { id: laneIdOf(project, 'ten_1'), tenant: 'ten_1' }
const clock = new VirtualClock()

let storage: Storage
let lanes: Lanes

const marked = async () => (await lanes.marked(project, null, 10)).map(({ id }) => id)

beforeEach(async () => {
  storage = openMemoryStorage()
  lanes = new Lanes(storage.records, clock.now)
  await lanes.mark(project, 'ten_1')
})

describe('a lane without waiting runs', () => {
  it('is unmarked, and can be marked again', async () => {
    await lanes.unmark(project, lane, async () => false)
    expect(await marked()).toEqual([])
    await lanes.mark(project, 'ten_1')
    expect(await marked()).toEqual([lane.id])
  })

  it('stays marked if a run is added between the two reads or right after the second', async () => {
    await lanes.unmark(project, lane, async () => true)
    expect(await marked()).toEqual([lane.id])
    await lanes.unmark(project, lane, async () => {
      await lanes.mark(project, 'ten_1')
      return false
    })
    expect(await marked()).toEqual([lane.id])
  })

  it('stays marked if the read fails, as a run may have been added meanwhile', async () => {
    const broken = lanes.unmark(project, lane, () => Promise.reject(new Error('the store is away')))
    await expect(broken).rejects.toThrow('away')
    expect(await marked()).toEqual([lane.id])
  })

  it('stays marked if another unmark overtakes the read', async () => {
    await lanes.unmark(project, lane, async () => {
      await lanes.mark(project, 'ten_1')
      await lanes.unmark(project, lane, async () => true)
      return false
    })
    expect(await marked()).toEqual([lane.id])
  })
})

it('keeps a lane marked whose only run held a slot when the read began', async () => {
  const id = 'run_01kb0000000000000000000001'
  const times = { version: 4, created_at: 1, updated_at: 1, expires_at: null }
  const record = { id, project, tenant: 'ten_1', user: null, ...times, data: { lane: lane.id, status: 'running' } }
  await storage.records.project([{ kind: runRows, record }])
  expect(await storage.records.list(runRows, projectScope(project), { limit: 10 })).toHaveLength(1)
  const host = { rows: new RowWriter({ records: storage.records, clock, log: pino({ level: 'silent' }) }) }
  const concurrency = { perProject: 2, perTenant: 2 }
  const context = { holders: { [lane.id]: [id] }, cursor: null, capped: [], checked_at: clock.now() }
  const picking = pickRuns({ host, records: storage.records, concurrency, clock })
  const requested = { actor: queueIdOf(project), owner: { project, tenant: null, user: null, createdAt: 1 }, context }
  const nothing = { part: async () => {}, show: () => {}, delivered: async () => {}, aloneAt: 0, idempotencyKey: 'k' }
  const outcome = await picking.run({}, { ...requested, ...nothing, signal: new AbortController().signal })
  expect(outcome).toMatchObject({ event: { type: 'runs_picked', granted: [] } })
  expect(await marked()).toEqual([lane.id])
})
