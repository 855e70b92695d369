import { expect, it } from 'vitest'
import { pause } from '#runtime/clock.ts'
import { shardsOf } from '#runtime/recovery/shard.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import { logOf, openProbe, owner, type Probe, probeRows, type Run, typesOf } from '../probe.ts'

const idOf = (n: number): string => `prb_${String(n).padStart(4, '0')}`

/** A store whose process died while this many actors had a running effect. */
const crashedAtWork = async (actors: number): Promise<FaultyStorage> => {
  const faulty = new FaultyStorage(openMemoryStorage())
  const probe = await openProbe({ storage: faulty.storage })
  for (let n = 0; n < actors; n++) {
    await probe.create(idOf(n))
    await probe.deliver(idOf(n), { type: 'work', policy: 'idempotent' })
  }
  faulty.crash()
  return faulty
}

/** The last actor in the order in which open commits are processed. */
const lastOf = (actors: number): string =>
  Array.from({ length: actors }, (_, n) => idOf(n)).reduce((last, id) =>
    shardsOf({}).of(id) >= shardsOf({}).of(last) ? id : last,
  )

/** A start whose takeovers wait until `letGo`, except for that of one actor. */
const slowStart = async (inner: FaultyStorage['inner'], touched: string, work: Run) => {
  const gate = Promise.withResolvers<void>()
  const faulty = new FaultyStorage(inner)
  faulty.hold(({ actor }) => (actor === touched ? undefined : gate.promise))
  const probe = await openProbe({ storage: faulty.storage, work, atOnce: true })
  return { probe, letGo: gate.resolve }
}

const openIn = async ({ inner }: FaultyStorage): Promise<number> => (await inner.commits.open({ limit: 20_000 })).length

const once = (ran: string[]): Run => {
  return async (_params, { actor }) => {
    ran.push(actor)
    return { event: { type: 'worked', output: 'fine' } }
  }
}

it('serves a request while 5,000 open commits are recovered, and recovers its actor first', {
  timeout: 120_000,
}, async () => {
  const actors = 2500
  const crashed = await crashedAtWork(actors)
  expect(await openIn(crashed)).toBe(5000)
  const ran: string[] = []
  const touched = lastOf(actors)
  const { probe, letGo } = await slowStart(crashed.inner, touched, once(ran))
  expect((await probe.find(touched)).id).toBe(touched)
  await calm()
  expect(ran).toEqual([touched])
  expect(probe.host.recovery.underWay(shardsOf({}).of(touched))).toBeDefined()
  letGo()
  await probe.host.recovery.over()
  await calm()
  expect(ran.toSorted()).toEqual(Array.from({ length: actors }, (_, n) => idOf(n)))
  await probe.clock.advance(5000)
  expect(await openIn(crashed)).toBe(0)
})

it('recovers nothing before requests are served, except what a request needs', async () => {
  const { inner } = await crashedAtWork(20)
  const serving = Promise.withResolvers<void>()
  const probe = await openProbe({ storage: inner, serving: serving.promise, atOnce: true })
  await calm()
  expect([...probe.host.residents()]).toEqual([])
  expect(probe.host.recovery.underWay(shardsOf({}).of(idOf(3)))).toBeDefined()
  await probe.find(idOf(3))
  expect([...probe.host.residents()].map(({ id }) => id)).toEqual([idOf(3)])
  serving.resolve()
  await probe.host.recovery.over()
  expect(probe.host.live).toBe(20)
})

it('yields the event loop to requests for 10 ms after each batch', async () => {
  const { inner } = await crashedAtWork(70)
  const faulty = new FaultyStorage(inner)
  const clock = new VirtualClock()
  const takenOverAt = new Map<string, number>()
  faulty.hold(({ actor }) => {
    if (!takenOverAt.has(actor)) takenOverAt.set(actor, clock.steady())
    return pause(clock, 20)
  })
  const probe = await openProbe({ storage: faulty.storage, clock, atOnce: true })
  await clock.advance(200)
  expect(probe.host.live).toBe(70)
  const times = [...takenOverAt.values()].map((at) => at - Math.min(...takenOverAt.values()))
  expect([0, 30, 60].map((at) => times.filter((time) => time === at).length)).toEqual([32, 32, 6])
})

it('recovers more open commits of one shard than it reads at once', { timeout: 120_000 }, async () => {
  const crashed = await crashedAtWork(2)
  const first = await crashed.inner.commits.at(idOf(0), 1)
  if (first === null) throw new Error('it exists')
  const ids = Array.from({ length: 2300 }, (_, n) => `prb_same${n}`)
  await crashed.inner.commits.append(ids.map((actor) => ({ ...first, actor, shard: 3, nonce: actor })))
  const probe = await openProbe({ storage: crashed.inner })
  expect(ids.filter((id) => probe.host.resident(id) === undefined)).toEqual([])
})

const messageTo = (to: string) => ({ type: 'send', messages: [{ to, event: { type: 'create', input: {} } }] })

/** A store in which one actor has requested the creation of another, and the process died before that. */
const requestedBy = async (): Promise<FaultyStorage> => {
  const faulty = new FaultyStorage(openMemoryStorage())
  const probe = await openProbe({ storage: faulty.storage })
  await probe.create(idOf(1))
  faulty.hold(({ actor }) => (actor === idOf(2) ? new Promise(() => {}) : undefined))
  await probe.deliver(idOf(1), messageTo(idOf(2)))
  await calm()
  faulty.crash()
  return faulty
}

it('does not report an actor as missing before it knows that no message creates it', async () => {
  const crashed = await requestedBy()
  const { probe, letGo } = await slowStart(crashed.inner, '', once([]))
  const found = probe.find(idOf(2))
  await calm()
  letGo()
  expect((await found).id).toBe(idOf(2))
})

it('refuses a request for an unknown actor with StoreUnavailable if recovery takes long', async () => {
  const crashed = await requestedBy()
  const { probe } = await slowStart(crashed.inner, '', once([]))
  const found = probe.find(idOf(2)).catch((error: unknown) => error)
  await probe.clock.advance(3000)
  expect(await found).toBeInstanceOf(StoreUnavailable)
})

const listed = ({ storage }: Probe) => storage.records.count(probeRows, projectScope(owner.project))

it('writes the list rows that a crash left unwritten before it shows lists', async () => {
  const faulty = new FaultyStorage(openMemoryStorage())
  const before = await openProbe({ storage: faulty.storage })
  void before.create(idOf(1))
  faulty.next('crash_after')
  await calm()
  const probe = await openProbe({ storage: faulty.inner, atOnce: true })
  expect(await listed(probe)).toBe(0)
  await probe.host.rows.shown()
  expect(await listed(probe)).toBe(1)
})

it('shows lists after a moment although recovery is still running', async () => {
  const crashed = await requestedBy()
  const { probe } = await slowStart(crashed.inner, '', once([]))
  const shown = probe.host.rows.shown()
  await probe.clock.advance(1500)
  await expect(shown).resolves.toBeUndefined()
})

it('recovers nothing more once the process drains', async () => {
  const crashed = await crashedAtWork(300)
  const { probe, letGo } = await slowStart(crashed.inner, '', once([]))
  const drained = probe.runtime.drain(0)
  letGo()
  await probe.clock.advance(5000)
  await drained
  expect(probe.host.live).toBeLessThan(300)
  const next = await openProbe({ storage: crashed.inner, work: once([]) })
  await next.clock.advance(5000)
  expect(typesOf(await logOf(crashed.inner, idOf(299)))).toEqual(['worked'])
})
