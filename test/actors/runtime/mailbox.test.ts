import { expect, it } from 'vitest'
import { assign, setup } from 'xstate'
import { boundRecords } from '#records/bound-records.ts'
import { requestErasure } from '#runtime/erasure/erase-listed.ts'
import { Overloaded } from '#runtime/overloaded.ts'
import { MailboxFull, maxWaiting } from '#runtime/step/stepper.ts'
import { type StoredEvent, StoreUnavailable } from '#storage/ports.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm } from '#test/support/virtual-clock.ts'
import { id, Worker, work as workOf } from './effects/effect-worker.ts'
import { logOf, openProbe, owner } from './probe.ts'
import { probeDefinition } from './probe-machine.ts'

it('accepts a thousand deliveries, refuses more for now, and loses none that it accepted', async () => {
  const probe = await openProbe()
  await probe.create(id)
  const sent = Array.from({ length: maxWaiting + 50 }, (_, n) => probe.deliver(id, { type: 'count', n }))
  const settled = await Promise.allSettled(sent)
  const refused = settled.filter((each) => each.status === 'rejected')
  // one is processed while the others wait
  expect(refused.length).toBe(49)
  expect(refused.every(({ reason }) => reason instanceof MailboxFull)).toBe(true)
  expect((await probe.find(id)).state.snapshot.context).toMatchObject({ count: maxWaiting + 1 })
  await probe.deliver(id, { type: 'count' })
  expect((await probe.find(id)).state.snapshot.context).toMatchObject({ count: maxWaiting + 2 })
})

it('accepts the result of an effect however many deliveries wait', async () => {
  const worker = new Worker()
  const probe = await openProbe({ work: worker.run })
  await probe.create(id)
  await probe.deliver(id, workOf('idempotent'))
  const sent = Array.from({ length: maxWaiting + 1 }, () => probe.deliver(id, { type: 'count' }))
  const done = probe.deliver(id, { type: 'worked', output: 'fine' }, { done: `${id}:2:0`, cause: 'done' })
  await Promise.all([...sent, done])
  expect((await logOf(probe.storage, id)).at(-1)?.payload).toEqual({ output: 'fine' })
})

it('writes one commit of an actor at a time', async () => {
  const faulty = new FaultyStorage(openMemoryStorage())
  let [onTheirWay, max] = [0, 0]
  faulty.hold(async () => {
    max = Math.max(max, ++onTheirWay)
    await new Promise<void>((resolve) => setImmediate(resolve))
    onTheirWay--
  })
  const probe = await openProbe({ storage: faulty.storage })
  await probe.create(id)
  await Promise.all(Array.from({ length: 50 }, () => probe.deliver(id, { type: 'count' })))
  expect((await probe.find(id)).state.snapshot.context).toMatchObject({ count: 50 })
  expect(max).toBe(1)
})

/** A store that accepts commits, but refuses list rows while `held.rows` is set. */
const withHeldRows = () => {
  const inner = openMemoryStorage()
  const held = { rows: true }
  const project = (rows: Parameters<typeof inner.records.project>[0]): Promise<void> =>
    held.rows ? Promise.reject(new StoreUnavailable('away')) : inner.records.project(rows)
  return { held, storage: { ...inner, records: { ...boundRecords(inner.records), project } } }
}

it('refuses deliveries and creations while too many rows are unwritten, and accepts them afterwards', async () => {
  const { held, storage } = withHeldRows()
  const probe = await openProbe({ storage, maxBehind: 5 })
  for (let n = 0; n < 5; n++) await probe.create(`${id}${n}`)
  const refused = [probe.deliver(`${id}0`, { type: 'count' }), probe.create(`${id}5`)]
  for (const each of refused) await expect(each).rejects.toBeInstanceOf(Overloaded)
  expect((await logOf(storage, `${id}5`)).length).toBe(0)
  held.rows = false
  await probe.clock.advance(5_000)
  await probe.create(`${id}5`)
  await probe.deliver(`${id}0`, { type: 'count' })
  expect((await probe.find(`${id}0`)).state.snapshot.context).toMatchObject({ count: 1 })
})

it('refuses requests while too many messages wait, and still delivers the messages', async () => {
  const probe = await openProbe({ maxBehind: 20 })
  const [from, to] = ['prb_from', 'prb_to']
  await probe.create(from)
  const count: StoredEvent = { type: 'count' }
  const messages = Array.from({ length: 30 }, () => ({ to, event: count }))
  await probe.clock.advance(1_000)
  // each is refused by a receiver that is not there yet, or waits behind one that is
  await probe.deliver(from, { type: 'send', messages: [{ to, event: { type: 'create', input: {} } }, ...messages] })
  await expect(probe.deliver(from, count)).rejects.toBeInstanceOf(Overloaded)
  await calm()
  await probe.clock.advance(1_000)
  await calm()
  expect((await probe.find(to)).state.snapshot.context).toMatchObject({ count: 30 })
  await probe.deliver(from, count)
})

it('refuses what sends to a parked actor for which too much waits, and nothing else', async () => {
  let isBroken = true
  const work = async () => {
    if (isBroken) throw new Error('not yet')
    return { event: { type: 'worked' } }
  }
  const probe = await openProbe({ maxBehind: 50, work })
  const [from, to, other] = ['prb_from', 'prb_to', 'prb_other']
  for (const each of [from, to, other]) await probe.create(each)
  await probe.deliver(to, workOf('idempotent'))
  await probe.clock.advance(60_000)
  const sends = (count: number): StoredEvent => ({
    type: 'send',
    messages: Array.from({ length: count }, () => ({ to, event: { type: 'count' } })),
  })
  // more than all that may wait in this process
  await probe.deliver(from, sends(60))
  await probe.clock.advance(10_000)
  const clear = {
    code: 'actor_parked',
    message: expect.stringContaining('the probe that this sends to, which is parked'),
  }
  await expect(probe.deliver(from, sends(1))).rejects.toMatchObject(clear)
  await expect(probe.deliver(other, sends(1))).rejects.toMatchObject(clear)
  await probe.deliver(from, { type: 'count' })
  await probe.deliver(other, { type: 'count' })
  await probe.create('prb_more')
  isBroken = false
  const stuck = { kind: 'parked_actor', subject: `${to}:2:0` }
  await probe.deliver(to, { type: '$retry', stuck })
  await probe.clock.advance(20_000)
  await probe.deliver(other, sends(1))
  await calm()
  expect((await probe.find(to)).state.snapshot.context).toMatchObject({ count: 61 })
})

it('accepts the deletion of an actor that sends to a parked one, and removes no log without it', async () => {
  const work = () => Promise.reject(new Error('broken'))
  const { clock, create, deliver, host, storage } = await openProbe({ maxBehind: 50, work })
  const [from, to, deleted] = ['prb_from', 'prb_to', 'prb_deleted']
  for (const each of [from, to, deleted]) await create(each)
  await deliver(to, workOf('idempotent'))
  await clock.advance(60_000)
  const count = { to, event: { type: 'count' } }
  await deliver(from, { type: 'send', messages: Array.from({ length: 60 }, () => count) })
  await clock.advance(10_000)
  await requestErasure({ storage, host, clock }, { actor: deleted, ...owner, event: { messages: [count] } })
  expect(await storage.commits.head(deleted)).toMatchObject({ cause: `erase:${deleted}`, messages: [{ to }] })
})

it('refuses what sends to an actor for which a tenth of all waits that may, and nothing else', async () => {
  const probe = await openProbe({ maxBehind: 100 })
  const [from, other] = ['prb_from', 'prb_other']
  for (const each of [from, other]) await probe.create(each)
  const messages = Array.from({ length: 20 }, () => ({ to: 'prb_to', event: { type: 'count' } }))
  const create = { to: 'prb_to', event: { type: 'create', input: {} } }
  await probe.deliver(from, { type: 'send', messages: [create, ...messages] })
  await expect(probe.deliver(other, { type: 'send', messages: messages.slice(19) })).rejects.toBeInstanceOf(Overloaded)
  await probe.deliver(from, { type: 'count' })
  await calm()
  await probe.clock.advance(1_000)
  await probe.deliver(other, { type: 'send', messages: messages.slice(19) })
  await calm()
  expect((await probe.find('prb_to')).state.snapshot.context).toMatchObject({ count: 21 })
})

it('answers an event that was processed before by its commit, although the machine now throws at it', async () => {
  const machine = setup({
    types: { context: {} as { count: number }, events: {} as StoredEvent },
    guards: {
      isFirst: ({ context }) => {
        if (context.count > 0) throw new Error('a guard throws')
        return true
      },
    },
  }).createMachine({
    id: 'probe',
    context: { count: 0 },
    on: { go: { guard: 'isFirst', actions: assign({ count: 1 }) } },
  })
  const probe = await openProbe({ definition: { ...probeDefinition, machine, effects: {} } })
  await probe.create(id)
  const first = await probe.deliver(id, { type: 'go' }, { cause: 'once' })
  const again = await probe.deliver(id, { type: 'go' }, { cause: 'once' })
  expect(again).toMatchObject({ duplicate: true, commit: { seq: first.commit?.seq } })
  await expect(probe.deliver(id, { type: 'go' })).rejects.toMatchObject({ code: 'internal_error' })
})
