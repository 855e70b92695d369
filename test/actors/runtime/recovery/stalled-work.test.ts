import { describe, expect, it } from 'vitest'
import { discardCause } from '#runtime/step/system-steps.ts'
import { stuckRows } from '#runtime/stuck/stuck.ts'
import type { RecordKind, StoredEvent } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import { logOf, openProbe, owner, type ProbeOptions, probeRows, type Run, typesOf } from '../probe.ts'

const id = 'prb_1'
const idempotent: StoredEvent = { type: 'work', policy: 'idempotent' }
const usage: RecordKind = { name: 'probe_usage' }

const opened = async (options: ProbeOptions = {}) => {
  const faulty = new FaultyStorage(options.storage ?? openMemoryStorage())
  await faulty.inner.records.prepare([usage])
  const clock = options.clock ?? new VirtualClock(Date.now())
  const probe = await openProbe({ ...options, clock, storage: faulty.storage })
  const row = async () => (await faulty.inner.records.get(probeRows, projectScope(owner.project), id))?.version
  const openOnes = async () => (await faulty.inner.commits.open({ limit: 100 })).map(({ seq }) => seq)
  const stuck = async () => {
    await probe.host.rows.settled()
    const rows = await faulty.inner.records.list(stuckRows, projectScope(owner.project), { limit: 10 })
    return rows.map(({ data }) => data)
  }
  return { ...probe, faulty, row, openOnes, stuck }
}

describe('work without progress is resumed within a minute', () => {
  it('after a write that was given up has arrived late, without another request', async () => {
    const { faulty, clock, create, deliver, row, openOnes } = await opened()
    await create(id)
    faulty.next('late', 'refused', 'refused', 'refused', 'refused', 'refused', 'refused')
    const delivering = deliver(id, { type: 'count', n: 1 }).catch((error: unknown) => error)
    await clock.advance(5000)
    expect(await delivering).toMatchObject({ name: 'StoreUnavailable' })
    await clock.advance(60_000)
    expect(await row()).toBe(1)
    await faulty.release()
    await clock.advance(60_000)
    expect(typesOf(await logOf(faulty.inner, id))).toEqual(['counted'])
    expect(await row()).toBe(2)
    expect(await openOnes()).toEqual([])
  })

  it('after an effect was lost from memory', async () => {
    let runs = 0
    const work: Run = (_params, { signal }) =>
      ++runs > 1
        ? Promise.resolve({ event: { type: 'worked', output: 'done' } })
        : new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
    const { host, clock, create, deliver, faulty, openOnes } = await opened({ work })
    await create(id)
    await deliver(id, idempotent)
    await clock.advance(120_000)
    expect(runs).toBe(1)
    host.effects.forget(`${id}:2:0`)
    await clock.advance(60_000)
    expect((await logOf(faulty.inner, id)).map(({ payload }) => payload.output)).toEqual(['done'])
    await clock.advance(5000)
    expect(await openOnes()).toEqual([])
  })

  it('after a ledger threw, and the commit stays open until then', async () => {
    let throwing = true
    const { clock, create, faulty, openOnes, stuck, deliver } = await opened({
      ledger: (commit, { project, tenant }) => {
        if (commit.event.type !== 'count') return []
        if (throwing) throw new Error('no price is known')
        const record = { id: `use_${commit.seq}`, project, tenant, user: null, version: 1, data: {} }
        return [{ kind: usage, record: { ...record, created_at: commit.at, updated_at: commit.at, expires_at: null } }]
      },
    })
    await create(id)
    await deliver(id, { type: 'count', n: 1 })
    for (let n = 2; n < 5; n++) await deliver(id, { type: 'count', n })
    await clock.advance(120_000)
    expect(await openOnes()).toEqual(expect.arrayContaining([2, 3, 4, 5]))
    expect(await stuck()).toMatchObject([{ kind: 'unfinished_commit', actor: id, reason: 'Error: no price is known' }])
    throwing = false
    await clock.advance(60_000)
    expect(await faulty.inner.records.count(usage, projectScope(owner.project))).toBe(4)
    expect(await openOnes()).toEqual([])
    await clock.advance(60_000)
    expect(await stuck()).toEqual([])
  })
})

it('stuck work is closed each time an operator discards it', async () => {
  const { clock, create, host, openOnes, stuck, deliver } = await opened({
    ledger: ({ event }) => {
      if (event.type !== 'count') return []
      throw new Error('no price is known')
    },
  })
  await create(id)
  for (let n = 1; n < 3; n++) {
    await deliver(id, { type: 'count', n })
    await clock.advance(120_000)
    const [shown, ...others] = await stuck()
    expect(others).toEqual([])
    expect(shown).toMatchObject({ kind: 'unfinished_commit', actor: id, reason: 'Error: no price is known' })
    const subject = String(shown?.subject)
    const event = { type: '$discard', stuck: { kind: 'unfinished_commit', subject }, by: { kind: 'system', id: null } }
    await host.deliver(id, { event, cause: discardCause('unfinished_commit', subject) })
    await clock.advance(60_000)
    expect(await openOnes()).toEqual([])
    expect(await stuck()).toEqual([])
  }
})

describe('work in progress or already reported as stuck', () => {
  it('is left alone: a long-running effect and a parked actor', async () => {
    const parks: Run = () => Promise.reject(new Error('this never works'))
    const { host, clock, create, deliver, stuck, faulty } = await opened({ tidy: parks })
    await create(id)
    await deliver(id, idempotent)
    await create('prb_2')
    await deliver('prb_2', { type: 'tidy' })
    await clock.advance(60_000)
    const requestCount = faulty.appended.length
    const residents = [host.resident(id), host.resident('prb_2')]
    await clock.advance(300_000)
    await calm()
    expect([host.resident(id), host.resident('prb_2')]).toEqual(residents)
    expect(faulty.appended).toHaveLength(requestCount)
    expect(await stuck()).toMatchObject([{ kind: 'parked_actor', actor: 'prb_2' }])
  })
})
