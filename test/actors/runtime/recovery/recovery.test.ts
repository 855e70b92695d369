import { pino } from 'pino'
import { expect, it } from 'vitest'
import { LocalHost } from '#runtime/local-host.ts'
import type { Ownership } from '#runtime/recovery/ownership.ts'
import { recover } from '#runtime/recovery/recovery.ts'
import { shardsOf } from '#runtime/recovery/shard.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import { logOf, openProbe, probeEffects, type Run, typesOf } from '../probe.ts'
import { probeDefinition } from '../probe-machine.ts'

const idOf = (n: number): string => `prb_${String(n).padStart(4, '0')}`

const crashed = async (
  prepare: (probe: Awaited<ReturnType<typeof openProbe>>, faulty: FaultyStorage) => Promise<void>,
) => {
  const faulty = new FaultyStorage(openMemoryStorage())
  const probe = await openProbe({ storage: faulty.storage })
  await prepare(probe, faulty)
  await calm()
  faulty.crash()
  return faulty.inner
}

it('resumes the effects of more actors than it reads at once', { timeout: 180_000 }, async () => {
  const storage = await crashed(async (probe) => {
    for (let n = 0; n < 1300; n++) {
      await probe.create(idOf(n))
      await probe.deliver(idOf(n), { type: 'work', policy: 'idempotent' })
    }
  })
  const run = new Set<string>()
  const work: Run = async (_params, { actor }) => {
    run.add(actor)
    return { event: { type: 'worked', output: 'fine' } }
  }
  await openProbe({ storage, work })
  await calm()
  expect(run.size).toBe(1300)
})

it('is not blocked by a stream that it has started again', async () => {
  const storage = await crashed(async (probe) => {
    await probe.create(idOf(1))
    await probe.deliver(idOf(1), { type: 'speak' })
  })
  let parts = 0
  const endless: Run = async (_params, { part, signal }) => {
    while (!signal.aborted) {
      parts++
      await part({ type: 'heard', delta: 'x' }, { type: 'heard' })
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    return { event: { type: 'spoken' } }
  }
  const next = await openProbe({ storage, speak: endless })
  expect(next.host.live).toBe(1)
  await calm()
  expect(parts).toBeGreaterThan(1)
  const drained = next.runtime.drain(0)
  await next.clock.advance(0)
  await drained
})

it('is not blocked forever by a message whose receiver is parked', async () => {
  const storage = await crashed(async (probe, faulty) => {
    await probe.create(idOf(1))
    await probe.create(idOf(2))
    faulty.hold((commit) => (commit.actor === idOf(2) ? new Promise(() => {}) : undefined))
    await probe.deliver(idOf(1), { type: 'send', messages: [{ to: idOf(2), event: { type: 'count' } }] })
  })
  const head = await storage.commits.head(idOf(2))
  if (head === null) throw new Error('the receiver exists')
  await storage.commits.append([{ ...head, seq: 2, machine: 'probe@9', cause: 'newer', nonce: 'newer' }])
  const clock = new VirtualClock()
  const opening = openProbe({ storage, clock })
  await clock.advance(10_000)
  const next = await opening
  await next.deliver(idOf(1), { type: 'count' })
  expect(typesOf(await logOf(storage, idOf(1)))).toEqual(['counted'])
})

it('finds nothing to do at the second start after a clean shutdown', async () => {
  const storage = openMemoryStorage()
  const first = await openProbe({ storage })
  await first.create(idOf(1))
  await first.deliver(idOf(1), { type: 'count' })
  await first.clock.advance(5000)
  await first.runtime.drain(0)
  expect(await storage.commits.open({ limit: 10 })).toEqual([])
  const second = await openProbe({ storage })
  expect(second.host.live).toBe(0)
  expect(second.host.committed).toBe(0)
})

it('leaves no finished commit open after a crash', async () => {
  const storage = await crashed(async (probe) => {
    await probe.create(idOf(1))
    await probe.create(idOf(2))
    for (let n = 0; n < 5; n++) {
      await probe.deliver(idOf(1), { type: 'send', messages: [{ to: idOf(2), event: { type: 'count' } }] })
    }
  })
  expect(await storage.commits.open({ limit: 100 })).not.toEqual([])
  const next = await openProbe({ storage })
  await next.clock.advance(5000)
  expect(await storage.commits.open({ limit: 100 })).toEqual([])
  expect((await logOf(storage, idOf(2))).length).toBe(5)
})

it.each([
  ['even if its actor is not requested', false],
  ['unless a request for its actor was faster', true],
])('recovers a late write of an earlier process, %s', async (_, isRequested) => {
  const faulty = new FaultyStorage(openMemoryStorage())
  const old = await openProbe({ storage: faulty.storage })
  await old.create(idOf(1))
  await old.clock.advance(5000)
  faulty.next('late', 'crash_before')
  void old.deliver(idOf(1), { type: 'work', policy: 'idempotent' })
  await calm()
  const next = await openProbe({
    storage: faulty.inner,
    work: async () => ({ event: { type: 'worked', output: 'fine' } }),
  })
  if (isRequested) await next.find(idOf(1))
  const [landed] = await faulty.release()
  await next.clock.advance(10_000)
  expect(typesOf(await logOf(faulty.inner, idOf(1)))).toEqual(landed === 'done' ? ['worked'] : [])
  expect(landed === 'done' || isRequested).toBe(true)
})

it('succeeds although the store fails an operation now and then', async () => {
  const storage = await crashed(async (probe) => {
    for (let n = 0; n < 30; n++) {
      await probe.create(idOf(n))
      await probe.deliver(idOf(n), { type: 'work', policy: 'idempotent' })
    }
  })
  let requestCount = 0
  const commits = new Proxy(storage.commits, {
    get: (target, name) => {
      const method = Reflect.get(target, name)
      if (name !== 'head' && name !== 'at' && name !== 'open') return method?.bind(target)
      return (...args: readonly unknown[]) => {
        if (++requestCount % 5 === 0) throw new StoreUnavailable('once')
        return Reflect.apply(method, target, args)
      }
    },
  })
  const clock = new VirtualClock()
  const opening = openProbe({ storage: { ...storage, commits }, clock })
  await clock.advance(10_000)
  expect((await opening).host.effects.running).toBe(30)
})

it('fails the start with the error of the store while the store is away', async () => {
  const faulty = new FaultyStorage(openMemoryStorage())
  faulty.away = true
  await expect(openProbe({ storage: faulty.storage })).rejects.toThrow('away')
})

it('leaves a commit open whose shard is lost before its work is done', async () => {
  const storage = await crashed(async (probe) => {
    await probe.create(idOf(1))
    await probe.create(idOf(2))
    await probe.deliver(idOf(1), { type: 'send', messages: [{ to: idOf(2), event: { type: 'count' } }] })
    await probe.deliver(idOf(1), { type: 'count' })
  })
  // the message cannot be delivered
  const there = await storage.commits.head(idOf(2))
  if (there !== null) await storage.commits.append([{ ...there, seq: there.seq + 1, cause: 'x', machine: 'probe@99' }])
  const clock = new VirtualClock()
  const ownership: Ownership & { shardsHeld: boolean } = {
    ...{ epoch: 2, space: shardsOf({}), shards: undefined, shardsHeld: true },
    epochOf: () => (ownership.shardsHeld ? 2 : undefined),
    heldUnder: () => (ownership.shardsHeld ? 2 : undefined),
    isFresh: () => ownership.shardsHeld,
    opens: () => true,
    aloneFrom: () => 0,
    crashed: () => false,
  }
  const log = pino({ level: 'silent' })
  const effects = () => probeEffects({})
  const host = new LocalHost({ storage, definitions: [probeDefinition], effects, rows: {}, clock, log, ownership })
  const open = async () => (await storage.commits.at(idOf(1), 3))?.open
  void recover({ host, store: storage.commits, clock, log })
  await clock.advance(1000)
  expect(await open()).toBe(true)
  ownership.shardsHeld = false
  await clock.advance(30_000)
  await host.settler.flush()
  expect(await open()).toBe(true)
})
