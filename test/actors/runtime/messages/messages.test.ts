import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm } from '#test/support/virtual-clock.ts'
import { logOf, openProbe, owner, type Probe, probeRows } from '../probe.ts'

const [from, to] = ['prb_from', 'prb_to']

const sending = (...events: readonly StoredEvent[]): StoredEvent => ({
  type: 'send',
  messages: events.map((event) => ({ to, event })),
})
const count = (n: number): StoredEvent => ({ type: 'count', n })

const pair = async (): Promise<{ probe: Probe; faulty: FaultyStorage; counted: () => Promise<readonly unknown[]> }> => {
  const faulty = new FaultyStorage(openMemoryStorage())
  const probe = await openProbe({ storage: faulty.storage })
  await probe.create(from)
  await probe.create(to)
  return {
    probe,
    faulty,
    counted: async () =>
      (await logOf(faulty.inner, to)).filter((each) => each.event_type === 'counted').map((each) => each.payload.n),
  }
}

const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, i) => i + 1)

it('arrive at another actor in the order in which they were sent, over many commits', async () => {
  const { probe, counted } = await pair()
  const sent = upTo(30).map((n) => probe.deliver(from, sending(count(2 * n - 1), count(2 * n))))
  await Promise.all(sent)
  await calm()
  expect(await counted()).toEqual(upTo(60))
})

it('are sent only once their commit is durable', async () => {
  const { probe, faulty, counted } = await pair()
  faulty.next('crash_before')
  void probe.deliver(from, sending(count(1)))
  await calm()
  expect(await counted()).toEqual([])
})

it('create an actor that does not exist, with the owner of the sender', async () => {
  const { probe } = await pair()
  await probe.deliver(from, {
    type: 'send',
    messages: [
      { to: 'prb_new', event: { type: 'create', input: {} } },
      { to: 'prb_new', event: count(1) },
    ],
  })
  await calm()
  const made = await probe.find('prb_new')
  expect(made.owner).toMatchObject({ project: 'prj_1', tenant: 'ten_1', user: 'usr_1' })
  expect(made.state.snapshot.context).toMatchObject({ count: 1 })
})

it('make a request wait for an actor that they are about to create', async () => {
  const { probe, faulty } = await pair()
  const gate = Promise.withResolvers<void>()
  faulty.hold((commit) => (commit.actor === 'prb_new' ? gate.promise : undefined))
  await probe.deliver(from, { type: 'send', messages: [{ to: 'prb_new', event: { type: 'create', input: {} } }] })
  const found = probe.find('prb_new')
  await calm()
  gate.resolve()
  expect((await found).id).toBe('prb_new')
})

it('make a list wait for an actor that they are about to create', async () => {
  const { probe, faulty } = await pair()
  const gate = Promise.withResolvers<void>()
  faulty.hold((commit) => (commit.actor === 'prb_new' ? gate.promise : undefined))
  await probe.deliver(from, { type: 'send', messages: [{ to: 'prb_new', event: { type: 'create', input: {} } }] })
  const shown = probe.host.rows.shown()
  await calm()
  gate.resolve()
  await shown
  expect(await faulty.inner.records.get(probeRows, projectScope(owner.project), 'prb_new')).not.toBeNull()
})

it('make a request wait for the actor even before the commit of the sender is acknowledged', async () => {
  const { probe, faulty } = await pair()
  const gate = Promise.withResolvers<void>()
  faulty.holdAnswers((commit) => (commit.actor === from ? gate.promise : undefined))
  const delivering = probe.deliver(from, {
    type: 'send',
    messages: [{ to: 'prb_new', event: { type: 'create', input: {} } }],
  })
  await calm()
  expect(await faulty.inner.commits.head('prb_new')).toBeNull()
  const found = probe.find('prb_new')
  await calm()
  gate.resolve()
  expect((await found).id).toBe('prb_new')
  await delivering
})

it('are retried until the store accepts them, and keep their order', async () => {
  const { probe, faulty, counted } = await pair()
  const delivering = probe.deliver(from, sending(count(1), count(2), count(3)))
  faulty.next(undefined, 'refused')
  await delivering
  faulty.away = true
  await probe.clock.advance(20_000)
  expect(await counted()).toEqual([])
  faulty.away = false
  await probe.clock.advance(20_000)
  expect(await counted()).toEqual([1, 2, 3])
})

it("are processed once if the receiver's answer is lost", async () => {
  const { probe, faulty, counted } = await pair()
  faulty.next(undefined, 'answer_lost')
  const delivering = probe.deliver(from, sending(count(1), count(2)))
  await delivering
  faulty.unreadable = true
  await probe.clock.advance(5000)
  faulty.unreadable = false
  await probe.clock.advance(20_000)
  expect(await counted()).toEqual([1, 2])
})

it('do not block others if the receiver refuses them or does not exist', async () => {
  const { probe, counted } = await pair()
  const messages = [
    { to, event: { type: 'refuse' } },
    { to: 'prb_nobody', event: count(1) },
    { to: 'xyz_unheard_of', event: { type: 'create', input: {} } },
    { to, event: count(2) },
  ]
  await probe.deliver(from, { type: 'send', messages })
  await calm()
  expect(await counted()).toEqual([2])
})

describe('after a crash', () => {
  it.each([
    ['before the first is delivered', 'crash_before', 2],
    ['after the first is delivered', 'crash_after', 2],
    ['before the second is delivered', 'crash_before', 3],
    ['after the second is delivered', 'crash_after', 3],
  ] as const)('%s, each is processed once and in order', async (_, fault, nth) => {
    const { probe, faulty, counted } = await pair()
    faulty.next(...Array.from({ length: nth - 1 }, () => undefined), fault)
    void probe.deliver(from, sending(count(1), count(2)))
    await calm()
    expect(faulty.crashed).toBe(true)
    await openProbe({ storage: faulty.inner })
    await calm()
    expect(await counted()).toEqual([1, 2])
  })

  it('messages of several commits are delivered oldest first', async () => {
    const { probe, faulty, counted } = await pair()
    faulty.hold((commit) => (commit.actor === to ? new Promise(() => {}) : undefined))
    for (const n of upTo(6)) await probe.deliver(from, sending(count(n)))
    // long enough for the upkeep to close what it considers done
    await probe.clock.advance(5000)
    expect(await counted()).toEqual([])
    faulty.crash()
    await openProbe({ storage: faulty.inner })
    await calm()
    expect(await counted()).toEqual(upTo(6))
  })

  it('an actor is created before it receives other messages', async () => {
    const { probe, faulty } = await pair()
    faulty.hold((commit) => (commit.actor === 'prb_new' ? new Promise(() => {}) : undefined))
    await probe.deliver(from, { type: 'send', messages: [{ to: 'prb_new', event: { type: 'create', input: {} } }] })
    await probe.deliver(from, { type: 'send', messages: [{ to: 'prb_new', event: count(1) }] })
    await calm()
    faulty.crash()
    const next = await openProbe({ storage: faulty.inner })
    await calm()
    expect((await next.find('prb_new')).state.snapshot.context).toMatchObject({ count: 1 })
  })

  it('a large message arrives whole', async () => {
    const { probe, faulty } = await pair()
    faulty.next(undefined, 'crash_before')
    const text = 'x'.repeat(200_000)
    void probe.deliver(from, sending({ type: 'keep', text }))
    await calm()
    const next = await openProbe({ storage: faulty.inner })
    await calm()
    expect((await next.find(to)).state.snapshot.context).toMatchObject({ blob: text })
  })
})

it('keep their order when the sender is loaded again in the same process', async () => {
  const { probe, faulty, counted } = await pair()
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  faulty.hold((commit) => (commit.actor === to ? gate : undefined))
  await probe.deliver(from, sending(count(1)))
  // another process advances the sender: it is dropped from memory and loaded again, its outbox still full
  const head = await faulty.inner.commits.head(from)
  if (head === null) throw new Error('the sender exists')
  const theirs = { ...head, seq: head.seq + 1, cause: 'theirs', nonce: 'theirs', messages: [], events: [] }
  await faulty.inner.commits.append([theirs])
  await probe.deliver(from, sending(count(2)))
  open()
  await calm()
  expect(await counted()).toEqual([1, 2])
})
