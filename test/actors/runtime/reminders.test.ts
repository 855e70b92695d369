import { describe, expect, it } from 'vitest'
import { type AnyStateMachine, setup } from 'xstate'
import { vocabulary } from '#machines/vocabulary.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { logOf, openProbe, type Probe, typesOf } from './probe.ts'
import { probeDefinition } from './probe-machine.ts'

const id = 'prb_1'
/** The clock of reminders looks twice a second. */
const pollMs = 500

const waiting = async (
  ms: number,
): Promise<{ probe: Probe; faulty: FaultyStorage; log: () => Promise<readonly string[]> }> => {
  const faulty = new FaultyStorage(openMemoryStorage())
  const probe = await openProbe({ storage: faulty.storage })
  await probe.create(id)
  await probe.deliver(id, { type: 'wait', ms })
  return { probe, faulty, log: async () => typesOf(await logOf(faulty.inner, id)) }
}

it('a reminder is delivered once, when it is due', async () => {
  const { probe, log } = await waiting(60_000)
  await probe.clock.advance(59_999)
  expect(await log()).toEqual([])
  await probe.clock.advance(1 + pollMs)
  expect(await log()).toEqual(['woke'])
  await probe.clock.advance(600_000)
  expect(await log()).toEqual(['woke'])
})

it('a reminder is not delivered after its state was left', async () => {
  const { probe, log } = await waiting(60_000)
  await probe.deliver(id, { type: 'back' })
  await probe.clock.advance(600_000)
  expect(await log()).toEqual([])
})

it('a reminder is delivered at the new time after its state was entered again', async () => {
  const { probe, log } = await waiting(60_000)
  await probe.clock.advance(50_000)
  await probe.deliver(id, { type: 'wait' })
  await probe.clock.advance(59_999)
  expect(await log()).toEqual([])
  await probe.clock.advance(1 + pollMs)
  expect(await log()).toEqual(['woke'])
})

it('a reminder survives later commits that are unrelated to it', async () => {
  const { probe, log } = await waiting(60_000)
  for (let n = 0; n < 5; n++) await probe.deliver(id, { type: 'count' })
  await probe.clock.advance(60_000 + pollMs)
  expect((await log()).at(-1)).toBe('woke')
})

it('a reminder is delivered to an actor that is no longer in memory', async () => {
  const { probe, log } = await waiting(600_000)
  await probe.clock.advance(120_000)
  expect(probe.host.live).toBe(0)
  await probe.clock.advance(480_000 + pollMs)
  expect(await log()).toEqual(['woke'])
})

it('a reminder that fell due during a restart is delivered after it', async () => {
  const { probe, faulty, log } = await waiting(60_000)
  faulty.crash()
  await probe.clock.leap(3_600_000)
  const next = await openProbe({ storage: faulty.inner, clock: probe.clock })
  await next.clock.advance(pollMs)
  expect(await log()).toEqual(['woke'])
})

describe('reminders whose delivery fails', () => {
  it('are retried until they are delivered, and are delivered once', async () => {
    const { probe, faulty, log } = await waiting(1000)
    faulty.away = true
    await probe.clock.advance(60_000)
    faulty.away = false
    await probe.clock.advance(10_000)
    expect(await log()).toEqual(['woke'])
  })

  it('stay due while only their commit is refused', async () => {
    const { probe, faulty, log } = await waiting(1000)
    faulty.next(...Array.from({ length: 30 }, () => 'refused' as const))
    await probe.clock.advance(60_000)
    expect(faulty.appended.length).toBeGreaterThan(30)
    expect(await log()).toEqual(['woke'])
  })

  it('are delivered once when the answer to their commit is lost', async () => {
    const { probe, faulty, log } = await waiting(1000)
    faulty.next('answer_lost')
    faulty.hold(async () => {
      faulty.unreadable = true
    })
    await probe.clock.advance(5000)
    expect(faulty.appended.at(-1)?.cause).toMatch(/^xstate\.after\.wait/)
    faulty.hold(() => undefined)
    faulty.unreadable = false
    await probe.clock.advance(60_000)
    expect(await log()).toEqual(['woke'])
  })

  it.each([
    { many: 600, ms: 500, at: 'one instant' },
    { many: 1200, ms: 0, at: 'many instants' },
  ])('do not block another one, although $many fail that are due before it at $at', async ({ many, ms }) => {
    const { probe, faulty, log } = await waiting(3000)
    for (let n = 0; n < many; n++) {
      const other = `prb_x${n}`
      await probe.create(other)
      await probe.deliver(other, { type: 'wait', ms: ms || 100 + n })
      probe.host.drop(other)
      faulty.damaged.add(other)
    }
    await probe.clock.advance(3000 + 2 * pollMs)
    expect(await log()).toEqual(['woke'])
  })

  it('are retried less and less often', async () => {
    const { probe, faulty } = await waiting(1000)
    probe.host.drop(id)
    faulty.damaged.add(id)
    await probe.clock.advance(600_000)
    expect(faulty.met).toBeGreaterThan(5)
    expect(faulty.met).toBeLessThan(20)
  })

  it('do not block another reminder, and are delivered once their actor can be read', async () => {
    const { probe, faulty, log } = await waiting(1000)
    await probe.create('prb_0')
    await probe.deliver('prb_0', { type: 'wait', ms: 500 })
    probe.host.drop('prb_0')
    faulty.damaged.add('prb_0')
    await probe.clock.advance(1000 + pollMs)
    expect(await log()).toEqual(['woke'])
    faulty.damaged.clear()
    await probe.clock.advance(pollMs)
    expect(typesOf(await logOf(faulty.inner, 'prb_0'))).toEqual(['woke'])
  })
})

/** A machine with a delay of a second, in memory. */
const timed = async (machine: AnyStateMachine) => {
  const faulty = new FaultyStorage(openMemoryStorage())
  const probe = await openProbe({ storage: faulty.storage, definition: { ...probeDefinition, machine, effects: {} } })
  await probe.create(id)
  return { probe, faulty, value: async () => (await probe.find(id)).state.snapshot.value }
}

const timers = setup({
  types: { context: {} as { ready: boolean }, events: {} as { type: 'prepare' | 'go' } },
  actions: vocabulary,
  guards: { isReady: ({ context }) => context.ready },
})

const fired = { type: 'journal', params: { events: [{ event_type: 'fired', payload: {} }] } } as const

describe('a reminder is over once it was delivered', () => {
  it('although its transition stays in the state', async () => {
    const { probe, faulty } = await timed(
      timers.createMachine({
        id: 'stays',
        context: { ready: false },
        initial: 'a',
        states: { a: { after: { 1000: { actions: fired } } } },
      }),
    )
    await probe.clock.advance(60_000)
    expect(typesOf(await logOf(faulty.inner, id))).toEqual(['fired'])
    expect(faulty.appended).toHaveLength(2)
  })

  it('although its guard did not hold: a guard that holds later does not take the transition', async () => {
    const { probe, value } = await timed(
      timers.createMachine({
        id: 'guarded',
        context: { ready: false },
        initial: 'a',
        states: {
          a: {
            on: { prepare: { actions: timers.assign({ ready: true }) } },
            after: { 1000: { guard: 'isReady', target: 'b' } },
          },
          b: {},
        },
      }),
    )
    await probe.clock.advance(10_000)
    await probe.deliver(id, { type: 'prepare' })
    await probe.clock.advance(10_000)
    expect(await value()).toBe('a')
  })
})

it('reminders that fell due during a restart are delivered in the order of their times', async () => {
  const machine = setup({
    types: { events: {} as { type: 'go' } },
    actions: vocabulary,
    delays: { early: 1000, late: 2000 },
  }).createMachine({
    id: 'both',
    initial: 'a',
    states: { a: { after: { late: 'over', early: { actions: fired } } }, over: {} },
  })
  const { probe, faulty, value } = await timed(machine)
  await probe.clock.leap(10_000)
  expect(await value()).toBe('over')
  expect(typesOf(await logOf(faulty.inner, id))).toEqual(['fired'])
})

it('a reminder that another one cancelled in the same instant does not fire in the state that was entered again', async () => {
  const { probe, value } = await timed(
    timers.createMachine({
      id: 'renewed',
      context: { ready: false },
      initial: 'outer',
      states: {
        outer: {
          initial: 'inner',
          after: { 1000: { target: 'outer', reenter: true } },
          states: { inner: { after: { 1000: '#renewed.over' } } },
        },
        over: {},
      },
    }),
  )
  await probe.clock.advance(1000 + pollMs)
  expect(await value()).toEqual({ outer: 'inner' })
})

it('a delayed event is delivered without an id too, each of several', async () => {
  const later = timers.raise({ type: 'go' }, { delay: 1000 })
  const { probe, value } = await timed(
    timers.createMachine({
      id: 'raised',
      context: { ready: false },
      initial: 'a',
      states: { a: { entry: [later, later], on: { go: 'b' } }, b: { on: { go: 'c' } }, c: {} },
    }),
  )
  await probe.clock.advance(1000 + pollMs)
  expect(await value()).toBe('c')
})

it('a delay that is no number of milliseconds fails the step, which would wait for good', async () => {
  const endless = setup({ actions: vocabulary, delays: { endless: () => Number.NaN } }).createMachine({
    id: 'endless',
    initial: 'a',
    states: { a: { on: { go: 'b' } }, b: { after: { endless: 'a' } } },
  })
  const { probe, value } = await timed(endless)
  await expect(probe.deliver(id, { type: 'go' })).rejects.toMatchObject({ code: 'internal_error' })
  expect(await value()).toBe('a')
})

it('removes a reminder that a process of an earlier release has taken and left where it was', async () => {
  const clock = new VirtualClock()
  const faulty = new FaultyStorage(openMemoryStorage({ now: clock.now }))
  const old = await openProbe({ storage: faulty.storage, clock })
  await old.create('prb_1')
  await old.deliver('prb_1', { type: 'wait', ms: 60_000 })
  const head = await faulty.inner.commits.head('prb_1')
  const [name = '', reminder] = Object.entries(head?.reminders ?? {})[0] ?? []
  if (head === null || reminder === undefined) throw new Error('it waits')
  const taken = { seq: head.seq + 1, cause: `${name}:${reminder.n}`, nonce: 'old', event: reminder.event, events: [] }
  faulty.crash()
  await clock.advance(60_000)
  await faulty.inner.commits.append([{ ...head, ...taken }])
  const next = new FaultyStorage(faulty.inner)
  const probe = await openProbe({ storage: next.storage, clock })
  await clock.advance(20_000)
  expect((await probe.find('prb_1')).state.reminders).toEqual({})
  expect(await logOf(faulty.inner, 'prb_1')).toEqual([])
  // the fence, the attempt that the store refuses, and the removal
  expect(next.appended.map(({ cause }) => cause.replace(/^fence.*/, 'fence'))).toEqual([
    'fence',
    taken.cause,
    `${taken.cause}:over`,
  ])
})
