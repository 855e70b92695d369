import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { auditLines } from '#actors/audit/audit-log.ts'
import { auditLog } from '#actors/audit/kinds.ts'
import { definitions } from '#actors/capabilities.ts'
import { bySystem } from '#records/audit-note.ts'
import { NoticeDelivery, type Receivers } from '#records/notice-delivery.ts'
import type { Notice } from '#records/notices.ts'
import type { TypedKind } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { auditSink, type Sink, webhookSink } from '#runtime/sinks.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

type Thing = { readonly name: string }
const things: TypedKind<Thing> = { name: 'things', unique: [{ fields: ['name'] }], outbox: true }
const mute: TypedKind<Thing> = { name: 'mutes' }
const scope = projectScope('prj_1')

const to = (name: string): Notice => ({ kind: 'message', to: 'act_1', event: { type: 'hear', name } })
const line = (action: string): Notice => ({
  kind: 'audit',
  action,
  by: bySystem,
  resource: { type: 'thing', id: 'thg_1' },
  changes: ['name'],
})

interface Heard {
  readonly id: string
  readonly name: unknown
}

const processOn = (storage: Storage, clock: VirtualClock, answer: () => Promise<void> = async () => {}) => {
  const heard: Heard[] = []
  const hooks: unknown[] = []
  const delivery = new NoticeDelivery(storage.records, {
    kinds: [things, mute, auditLog],
    definitions,
    clock,
    log: pino({ level: 'silent' }),
  })
  const webhooks: Sink = async ({ project, tenant }, { event }) => void hooks.push({ project, tenant, ...event })
  const receivers: Receivers = {
    host: {
      deliver: async (_actor, { event, cause }) => {
        await answer()
        heard.push({ id: cause, name: event.name })
        return { commit: null, duplicate: false }
      },
      create: async () => ({ commit: null, duplicate: false }),
    },
    sinks: { [auditSink]: auditLines(storage.records), [webhookSink]: webhooks },
  }
  return { delivery, receivers, heard, hooks, table: new Table(delivery.records, things, clock.now) }
}

const open = (answer?: () => Promise<void>) => {
  const clock = new VirtualClock()
  const storage = openMemoryStorage({ now: clock.now })
  return { clock, storage, ...processOn(storage, clock, answer) }
}

const row = (id: string, notices: readonly Notice[]) => ({
  id,
  project: 'prj_1',
  tenant: 'ten_1',
  data: { name: id },
  notices,
})

const names = (heard: readonly Heard[]) => heard.map(({ name }) => name)

describe('a notice of a changed record', () => {
  it('is delivered in order after the change is written, and then removed from the record', async () => {
    const { delivery, receivers, heard, table } = open()
    delivery.start(receivers)
    await table.insert(row('thg_1', [to('a'), to('b')]))
    await table.change(scope, 'thg_1', {
      edit: () => ({ name: 'new' }),
      notices: (next, before) => [to(`${before.data.name}-${next.data.name}`)],
    })
    await delivery.delivered()
    expect(names(heard)).toEqual(['a', 'b', 'thg_1-new'])
    expect(await table.get(scope, 'thg_1')).not.toHaveProperty('outbox')
  })

  it('is delivered by the next process under the same ids if the process that wrote it died', async () => {
    const { clock, storage, table } = open()
    const inserted = await table.insert(row('thg_1', [to('a'), to('b')]))
    const next = processOn(storage, clock)
    next.delivery.start(next.receivers)
    await clock.advance(0)
    expect(next.heard).toEqual(inserted?.outbox?.map(({ id, event }) => ({ id, name: event.name })))
    expect(await storage.records.openOutboxes(things, null, 10)).toEqual([])
  })

  it('is retried until it is delivered, and does not block notices of other records', async () => {
    let away = true
    const { clock, delivery, receivers, heard, table } = open(async () => {
      if (away) throw new Error('away')
    })
    delivery.start(receivers)
    await table.insert(row('thg_1', [to('a'), line('thing.made')]))
    await table.insert(row('thg_2', [line('thing.made')]))
    await clock.advance(10_000)
    expect(heard).toEqual([])
    const lines = new Table(delivery.records, auditLog, clock.now)
    expect(await lines.count(scope)).toBe(1)
    away = false
    await clock.advance(10_000)
    expect(names(heard)).toEqual(['a'])
    expect(await lines.count(scope)).toBe(2)
  })

  it('is dropped if the receiver refuses it', async () => {
    const { clock, delivery, receivers, storage, table } = open(() => Promise.reject(new ServiceError('not_found')))
    delivery.start(receivers)
    await table.insert(row('thg_1', [to('a')]))
    await clock.advance(0)
    expect(await storage.records.openOutboxes(things, null, 10)).toEqual([])
  })

  it('outlives a removed row, of which nothing is left once the removal is delivered', async () => {
    const { delivery, receivers, heard, storage, table } = open()
    await table.insert(row('thg_1', [to('a')]))
    expect(await table.remove(scope, 'thg_1', ({ data }) => [to(`${data.name} gone`)])).toBe(true)
    expect(await table.get(scope, 'thg_1')).toBeNull()
    expect(await table.insert({ ...row('thg_2', []), data: { name: 'thg_1' } })).not.toBeNull()
    delivery.start(receivers)
    await delivery.round()
    expect(names(heard)).toEqual(['a', 'thg_1 gone'])
    expect(await storage.records.openOutboxes(things, null, 10)).toEqual([])
    expect(await table.insert(row('thg_1', []))).toBeNull()
    expect(await table.insert({ ...row('thg_1', []), data: { name: 'other' } })).not.toBeNull()
  })

  it('has other ids if a removed row is created again', async () => {
    const { clock, delivery, receivers, heard, table } = open()
    delivery.start(receivers)
    for (const name of ['first', 'second']) {
      await table.insert(row('thg_1', [to(name)]))
      await delivery.delivered()
      await table.remove(scope, 'thg_1', () => [])
      await delivery.records.sweep(things, clock.now())
      await clock.advance(1)
    }
    expect(new Set(heard.map(({ id }) => id)).size).toBe(2)
  })

  it('reaches the webhooks with the tenant of its record', async () => {
    const { clock, delivery, receivers, hooks, table } = open()
    delivery.start(receivers)
    const at = clock.now()
    await table.insert(row('thg_1', [{ kind: 'webhook', event_type: 'tenant.created', data: { external_id: 'x' } }]))
    await delivery.delivered()
    const notice = { project: 'prj_1', tenant: 'ten_1', type: 'notify', at, event_type: 'tenant.created' }
    expect(hooks).toEqual([{ ...notice, data: { external_id: 'x' } }])
  })

  it('becomes one line of the audit log, however often it is delivered', async () => {
    const { clock, storage, delivery, receivers, table } = open()
    const at = clock.now()
    const inserted = await table.insert(row('thg_1', [line('thing.made')]))
    const [message] = inserted?.outbox ?? []
    if (inserted === null || message === undefined) throw new Error('nothing to tell')
    await clock.advance(60_000)
    delivery.start(receivers)
    await delivery.round()
    await auditLines(storage.records)(inserted, message, true)
    const lines = await storage.records.list(auditLog, scope, { limit: 10 })
    const data = { action: 'thing.made', actor_kind: 'system', actor_id: null, resource_type: 'thing' }
    expect(lines).toMatchObject([
      { tenant: 'ten_1', created_at: at, data: { ...data, resource_id: 'thg_1', changes: ['name'] } },
    ])
  })

  it('is searched for by one statement, which a hundred processes send as often as four do', async () => {
    const { clock, storage, delivery, receivers } = open()
    const statements = { kinds: 0, records: 0 }
    const { withOpenOutboxes, openOutboxes } = storage.records
    storage.records.withOpenOutboxes = (...given) => {
      statements.kinds++
      return withOpenOutboxes.apply(storage.records, given)
    }
    storage.records.openOutboxes = (...given) => {
      statements.records++
      return openOutboxes.apply(storage.records, given)
    }
    let processes = 4
    delivery.start({ ...receivers, processes: () => processes })
    await clock.advance(0)
    statements.kinds = 0
    await clock.advance(100_000)
    expect(statements).toEqual({ kinds: 50, records: 0 })
    processes = 100
    await clock.advance(102_000)
    expect(statements.kinds - 50).toBeLessThanOrEqual(3)
  })

  it('is refused for a kind without an outbox, as it would never be found again', async () => {
    const { delivery, clock } = open()
    const table = new Table(delivery.records, mute, clock.now)
    await expect(table.insert(row('mut_1', [to('a')]))).rejects.toThrow('without an outbox')
  })
})
