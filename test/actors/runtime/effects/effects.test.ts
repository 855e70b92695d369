import { describe, expect, it } from 'vitest'
import { maxBlobBytes } from '#runtime/commit/commit-document.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm } from '#test/support/virtual-clock.ts'
import { forever, logOf, openProbe, type Run, typesOf } from '../probe.ts'
import { id, twoProcesses, Worker, work } from './effect-worker.ts'

describe('any effect', () => {
  it('runs only once its commit is durable', async () => {
    const worker = new Worker()
    const { faulty, old } = await twoProcesses(worker, new Worker())
    faulty.next('crash_before')
    void old.deliver(id, work('idempotent'))
    await calm()
    expect(worker.begun).toEqual([])
  })

  it('reports its result to its machine under a separate cause', async () => {
    const worker = new Worker()
    const probe = await openProbe({ work: worker.run })
    await probe.create(id)
    await probe.deliver(id, work('idempotent'))
    await worker.end('fine')
    expect((await logOf(probe.storage, id)).at(-1)?.payload).toEqual({ output: 'fine' })
    expect(await probe.host.commitOf(id, `${worker.keys[0]}#done`)).not.toBeNull()
    expect((await probe.find(id)).state.inFlight).toEqual({})
  })

  it.each(['idempotent', 'at_most_once'] as const)(
    'that is %s and whose result is too large for the store ends as too large and is not retried',
    async (policy) => {
      const worker = new Worker()
      const probe = await openProbe({ work: worker.run })
      await probe.create(id)
      await probe.deliver(id, work(policy))
      await calm()
      await worker.end('x'.repeat(maxBlobBytes + 1))
      expect((await logOf(probe.storage, id)).at(-1)?.payload).toEqual({ output: 'too large' })
      expect((await probe.find(id)).state.inFlight).toEqual({})
      expect(worker.begun).toHaveLength(1)
    },
  )

  it('has its late result dropped once the machine has ended it', async () => {
    const worker = new Worker()
    const probe = await openProbe({ work: worker.run })
    await probe.create(id)
    await probe.deliver(id, work('idempotent'))
    await probe.deliver(id, { type: 'stop' })
    await probe.deliver(id, work('idempotent'))
    const late = { done: worker.keys[0] ?? '', cause: 'late' }
    expect(await probe.deliver(id, { type: 'worked', output: 'late' }, late)).toEqual({
      commit: null,
      duplicate: false,
    })
    expect(typesOf(await logOf(probe.storage, id))).toEqual(['stopped'])
    expect(Object.keys((await probe.find(id)).state.inFlight)).toEqual([worker.keys[1]])
  })

  it('is aborted through its signal at once when the machine ends it', async () => {
    const worker = new Worker()
    const probe = await openProbe({ work: worker.run })
    await probe.create(id)
    await probe.deliver(id, work('at_most_once'))
    await calm()
    expect(worker.begun[0]?.signal.aborted).toBe(false)
    await probe.deliver(id, { type: 'stop' })
    expect(worker.begun[0]?.signal.aborted).toBe(true)
    await worker.end('too late')
    expect(typesOf(await logOf(probe.storage, id))).toEqual(['stopped'])
  })

  it('has its result committed once the store is back, and only once', async () => {
    const worker = new Worker()
    const { old, faulty, outputs } = await twoProcesses(worker, new Worker())
    await old.deliver(id, work('idempotent'))
    await calm()
    faulty.away = true
    await worker.end('fine')
    await old.clock.advance(10_000)
    expect(await outputs()).toEqual([])
    faulty.away = false
    await old.clock.advance(10_000)
    expect(await outputs()).toEqual(['fine'])
    expect(worker.begun).toHaveLength(1)
  })

  it('has its result committed once if the answer to that commit is lost', async () => {
    const worker = new Worker()
    const { old, faulty, outputs } = await twoProcesses(worker, new Worker())
    await old.deliver(id, work('idempotent'))
    await calm()
    faulty.next('answer_lost')
    faulty.unreadable = true
    await worker.end('fine')
    await old.clock.advance(5000)
    faulty.unreadable = false
    await old.clock.advance(10_000)
    expect(await outputs()).toEqual(['fine'])
  })
})

describe('an idempotent effect', () => {
  it('that throws is retried under the same key, after longer pauses', async () => {
    const worker = new Worker()
    const probe = await openProbe({ work: worker.run })
    await probe.create(id)
    await probe.deliver(id, work('idempotent'))
    await worker.end(new Error('first'))
    expect(worker.begun).toHaveLength(1)
    await probe.clock.advance(1000)
    await worker.end(new Error('second'))
    await probe.clock.advance(9999)
    expect(worker.begun).toHaveLength(2)
    await probe.clock.advance(1)
    await worker.end('third')
    expect(new Set(worker.keys)).toEqual(new Set(['prb_1:2:0']))
    expect((await logOf(probe.storage, id)).map((event) => event.payload.output)).toEqual(['third'])
  })

  it('that fails because the store is away succeeds within two seconds of its return', async () => {
    let isAway = true
    const meets: Run = async () => {
      if (isAway) throw new StoreUnavailable('away')
      return { event: { type: 'worked', output: 'fine' } }
    }
    const probe = await openProbe({ work: meets })
    await probe.create(id)
    await probe.deliver(id, work('idempotent'))
    await probe.clock.advance(600_000)
    isAway = false
    await probe.clock.advance(2000)
    expect((await logOf(probe.storage, id)).map((event) => event.payload.output)).toEqual(['fine'])
  })

  it('interrupted by a crash is run again under the same key', async () => {
    const [before, behind] = [new Worker(), new Worker()]
    const { old, faulty, restart, outputs } = await twoProcesses(before, behind)
    await old.deliver(id, work('idempotent'))
    await calm()
    faulty.crash()
    await restart()
    await behind.end('fine')
    expect(behind.keys).toEqual(before.keys)
    expect(await outputs()).toEqual(['fine'])
  })

  it('is not retried once the machine has ended it', async () => {
    const worker = new Worker()
    const probe = await openProbe({ work: worker.run })
    await probe.create(id)
    await probe.deliver(id, work('idempotent'))
    await worker.end(new Error('first'))
    await probe.deliver(id, { type: 'stop' })
    await probe.clock.advance(100_000)
    expect(worker.begun).toHaveLength(1)
    expect(probe.host.effects.running).toBe(0)
  })
})

describe('an at-most-once effect', () => {
  it('is marked as started before it is called', async () => {
    const started: unknown[] = []
    const { storage } = { storage: openMemoryStorage() }
    const probe = await openProbe({
      storage,
      work: async () => {
        started.push((await storage.commits.head(id))?.in_flight['prb_1:2:0'])
        return { event: { type: 'worked', output: 'fine' } }
      },
    })
    await probe.create(id)
    await probe.deliver(id, work('at_most_once'))
    await calm()
    expect(started).toMatchObject([{ started: true }])
  })

  it('interrupted before the mark is run by the next process', async () => {
    const [before, behind] = [new Worker(), new Worker()]
    const { old, faulty, restart, outputs } = await twoProcesses(before, behind)
    faulty.next(undefined, 'crash_before')
    await old.deliver(id, work('at_most_once'))
    await calm()
    await restart()
    await behind.end('fine')
    expect([before.begun.length, behind.begun.length]).toEqual([0, 1])
    expect(await outputs()).toEqual(['fine'])
  })

  it.each(['right after the mark', 'in the middle of the call'])(
    'interrupted %s ends as unknown and is never called again',
    async (when) => {
      const [before, behind] = [new Worker(), new Worker()]
      const { old, faulty, restart, outputs } = await twoProcesses(before, behind)
      if (when === 'right after the mark') faulty.next(undefined, 'crash_after')
      await old.deliver(id, work('at_most_once'))
      await calm()
      faulty.crash()
      await restart()
      await behind.end('never')
      expect(behind.begun).toEqual([])
      expect(await outputs()).toEqual(['unknown'])
    },
  )

  it('whose result was lost in a crash ends as unknown once, however often the process dies', async () => {
    const { old, faulty, restart, outputs } = await twoProcesses(new Worker(), new Worker())
    await old.deliver(id, work('at_most_once'))
    await calm()
    faulty.crash()
    await restart()
    await restart()
    await calm()
    expect(await outputs()).toEqual(['unknown'])
  })

  it('that throws ends as unknown and is not called again', async () => {
    const worker = new Worker()
    const probe = await openProbe({ work: worker.run })
    await probe.create(id)
    await probe.deliver(id, work('at_most_once'))
    await worker.end(new Error('cut'))
    await probe.clock.advance(100_000)
    expect(worker.begun).toHaveLength(1)
    expect((await logOf(probe.storage, id)).map((event) => event.payload.output)).toEqual(['unknown'])
  })

  it('is not called if the machine ends it before the mark is written', async () => {
    const worker = new Worker()
    const probe = await openProbe({ work: worker.run })
    await probe.create(id)
    const pending = probe.deliver(id, work('at_most_once'))
    const stopped = probe.deliver(id, { type: 'stop' })
    await Promise.all([pending, stopped])
    await calm()
    expect(worker.begun).toEqual([])
  })

  it('is called once if the answer to its mark is lost', async () => {
    const worker = new Worker()
    const { old, faulty, outputs } = await twoProcesses(worker, new Worker())
    faulty.next(undefined, 'answer_lost')
    await old.deliver(id, work('at_most_once'))
    await worker.end('fine')
    await old.clock.advance(10_000)
    expect(worker.begun).toHaveLength(1)
    expect(await outputs()).toEqual(['fine'])
  })
})

it('is called by only one of two processes that both run the actor', async () => {
  const [before, behind] = [new Worker(), new Worker()]
  const { old, faulty, outputs } = await twoProcesses(before, behind)
  const marks = Promise.withResolvers<void>()
  faulty.hold((commit) => (commit.cause.endsWith('#started') ? marks.promise : undefined))
  await old.deliver(id, work('at_most_once'))
  const theirs = new FaultyStorage(faulty.inner)
  const theirMarks = Promise.withResolvers<void>()
  theirs.hold((commit) => (commit.cause.endsWith('#started') ? theirMarks.promise : undefined))
  await openProbe({ storage: theirs.storage, work: behind.run })
  await calm()
  marks.resolve()
  await calm()
  theirMarks.resolve()
  await calm()
  expect(before.begun.length + behind.begun.length).toBe(1)
  await before.end('fine')
  await behind.end('fine')
  expect(await outputs()).toHaveLength(1)
})

describe('a stream effect', () => {
  it.each([
    { said: [], times: 2, end: ['speech.started', 'speech.delta', 'speech.delta', 'speech.ended'] },
    { said: ['Hel'], times: 1, end: ['speech.started', 'speech.delta', 'worked'] },
  ])('that the store fails after $said.length parts is started $times times', async ({ said, times, end }) => {
    let begun = 0
    const probe = await openProbe({
      speak: async (params, context) => {
        if (++begun > 1) return speaks(params, context)
        for (const delta of said) await context.part({ type: 'heard', delta }, { type: 'heard' })
        throw new StoreUnavailable('away')
      },
    })
    await probe.create(id)
    await probe.deliver(id, { type: 'speak' })
    await probe.clock.advance(1000)
    expect(typesOf(await logOf(probe.storage, id))).toEqual(end)
    expect(begun).toBe(times)
  })

  const speaks: Run = async (_params, context) => {
    for (const delta of ['Hel', 'lo']) await context.part({ type: 'heard', delta }, { type: 'heard' })
    return { event: { type: 'spoken' } }
  }

  it('has each part committed in order, and ends with the whole text', async () => {
    const probe = await openProbe({ speak: speaks })
    await probe.create(id)
    await probe.deliver(id, { type: 'speak' })
    await calm()
    const log = await logOf(probe.storage, id)
    expect(typesOf(log)).toEqual(['speech.started', 'speech.delta', 'speech.delta', 'speech.ended'])
    expect(log.at(-1)?.payload.text).toBe('Hello')
  })

  it('is started again after a crash if no part was committed', async () => {
    const faulty = new FaultyStorage(openMemoryStorage())
    const old = await openProbe({ storage: faulty.storage, speak: forever })
    await old.create(id)
    await old.deliver(id, { type: 'speak' })
    faulty.crash()
    await openProbe({ storage: faulty.inner, speak: speaks })
    await calm()
    expect((await logOf(faulty.inner, id)).at(-1)?.payload.text).toBe('Hello')
  })

  it('is not started again after a crash if a part was committed, but ends as interrupted', async () => {
    const faulty = new FaultyStorage(openMemoryStorage())
    const old = await openProbe({ storage: faulty.storage, speak: speaks })
    await old.create(id)
    faulty.next(undefined, undefined, 'crash_before')
    await old.deliver(id, { type: 'speak' })
    await calm()
    await openProbe({ storage: faulty.inner, speak: speaks })
    await calm()
    expect(typesOf(await logOf(faulty.inner, id))).toEqual(['speech.started', 'speech.delta', 'worked'])
  })

  it('continues where it stopped after the store was away in the middle', async () => {
    const faulty = new FaultyStorage(openMemoryStorage())
    const probe = await openProbe({ storage: faulty.storage, speak: speaks })
    await probe.create(id)
    faulty.next(undefined, 'answer_lost')
    await probe.deliver(id, { type: 'speak' })
    faulty.away = true
    await probe.clock.advance(10_000)
    faulty.away = false
    await probe.clock.advance(10_000)
    const log = await logOf(faulty.inner, id)
    expect(log.map((event) => event.sequence)).toEqual([1, 2, 3, 4])
    expect(log.at(-1)?.payload.text).toBe('Hello')
  })
})

it('lets effects end within the grace period of a shutdown, and starts none', async () => {
  const worker = new Worker()
  const probe = await openProbe({ work: worker.run })
  await probe.create(id)
  await probe.deliver(id, work('idempotent'))
  const drained = probe.runtime.drain(5000)
  await probe.deliver(id, work('idempotent'))
  await worker.end('in time')
  await drained
  expect(worker.begun).toHaveLength(1)
  expect((await logOf(probe.storage, id)).map((event) => event.payload.output)).toEqual(['in time'])
})

it('aborts an effect that outlasts the grace period, and the next process runs it', async () => {
  const [before, behind] = [new Worker(), new Worker()]
  const probe = await openProbe({ work: before.run })
  await probe.create(id)
  await probe.deliver(id, work('idempotent'))
  await calm()
  const drained = probe.runtime.drain(5000)
  await probe.clock.advance(5000)
  await drained
  expect(before.begun[0]?.signal.aborted).toBe(true)
  await openProbe({ storage: probe.storage, work: behind.run })
  await behind.end('later')
  expect((await logOf(probe.storage, id)).map((event) => event.payload.output)).toEqual(['later'])
})
