import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { boundRecords } from '#records/bound-records.ts'
import { IdempotentRequests, idempotencyKeys, type KeyedRequest } from '#records/idempotent.ts'
import type { Clock } from '#runtime/clock.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { type RecordStore, StoreUnavailable } from '#storage/ports.ts'
import { projectScope, tenantScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

const hourMs = 60 * 60 * 1000

/** A clock that advances by every wait, so that waiting takes no time. */
const openClock = () => {
  const time = { now: Date.UTC(2026, 0, 1) }
  const clock: Clock = {
    now: () => time.now,
    steady: () => time.now,
    after: (ms, work) => {
      const timer = setImmediate(() => {
        time.now += ms
        work()
      })
      return () => clearImmediate(timer)
    },
    soon: (work) => void setImmediate(work),
  }
  return { time, clock }
}

const box = {
  seal: (text: string, aad: string) => `${aad}#${text}`,
  open: (sealed: string) => sealed.split('#')[1] ?? '',
}

/** Two processes on one store. */
const open = (change: (records: RecordStore) => RecordStore = (records) => records) => {
  const { time, clock } = openClock()
  const records = change(openMemoryStorage({ now: clock.now }).records)
  const node = () => new IdempotentRequests({ records, box, clock, log: pino({ level: 'silent' }) })
  return { time, clock, records, here: node(), there: node() }
}

const request = (more: Partial<KeyedRequest> = {}, fingerprint = 'f1'): KeyedRequest => ({
  operation: 'things.create',
  scope: projectScope('prj_1'),
  idempotency: { cause: 'idem:1', fingerprint, seed: null },
  secret: false,
  ...more,
})

/** Work that never ends, like that of a killed process. */
const never = () => new Promise<unknown>(() => {})

it('takes a request over at once from a process that has ended, and only after a while from one that may live', async () => {
  const { records, time, clock } = open()
  const gone = new Set<string>()
  const isGone = (process: string): boolean => gone.has(process)
  const node = (self: string) =>
    new IdempotentRequests({ records, box, clock, log: pino({ level: 'silent' }), processes: { self, isGone } })
  void node('n1.7').run(request(), never)
  await new Promise<void>((resolve) => setImmediate(resolve))
  const started = time.now
  const work = async () => ({ made: 'by the next one' })
  await expect(node('n2.8').run(request(), work)).rejects.toMatchObject({ code: 'idempotency_in_progress' })
  gone.add('n1.7')
  const requestCount = time.now
  expect(await node('n2.8').run(request(), work)).toEqual({ replayed: false, result: { made: 'by the next one' } })
  expect(time.now - requestCount).toBeLessThan(100)
  expect(requestCount - started).toBeLessThan(30_000)
})

describe('a request with a key', () => {
  it('runs once, and again after 24 hours', async () => {
    const { here, there, time } = open()
    const results = ['first', 'second']
    const work = async () => ({ made: results.shift() })
    expect(await here.run(request(), work)).toEqual({ replayed: false, result: { made: 'first' } })
    time.now += 23 * hourMs
    expect(await there.run(request(), work)).toEqual({ replayed: true, result: { made: 'first' } })
    time.now += hourMs
    expect(await here.run(request(), work)).toEqual({ replayed: false, result: { made: 'second' } })
  })

  it('runs once for any number of concurrent calls on any node', async () => {
    const { here, there } = open()
    const seeds: (string | null)[] = []
    const work = async ({ seed }: { seed: string | null }) => {
      seeds.push(seed)
      return { seed }
    }
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? here : there).run(request(), work)),
    )
    expect(seeds).toHaveLength(1)
    expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(new Set(all.map((outcome) => JSON.stringify('result' in outcome && outcome.result))).size).toBe(1)
  })

  it('is refused while the first call is still running', async () => {
    const { here, there } = open()
    void here.run(request(), never)
    const second = there.run(request(), never)
    await expect(second).rejects.toMatchObject({ code: 'idempotency_in_progress' })
  })

  it('is taken over with the same seed if its process died', async () => {
    const { here, there, time } = open()
    const seeds: (string | null)[] = []
    void here.run(request(), ({ seed }) => {
      seeds.push(seed)
      return never()
    })
    await expect(there.run(request(), never)).rejects.toMatchObject({ code: 'idempotency_in_progress' })
    time.now += 30_000
    const outcome = await there.run(request(), async ({ seed }) => {
      seeds.push(seed)
      return 'done'
    })
    expect(outcome).toEqual({ replayed: false, result: 'done' })
    expect(seeds).toEqual([seeds[0], seeds[0]])
    expect(seeds[0]).toMatch(/^[0-9a-z]{26}$/)
  })

  it('is taken over by only one process', async () => {
    const { here, there, time } = open()
    void here.run(request(), never)
    await expect(there.run(request(), never)).rejects.toMatchObject({ code: 'idempotency_in_progress' })
    time.now += 30_000
    let runs = 0
    const work = async () => {
      runs += 1
    }
    await Promise.all([here.run(request(), work), there.run(request(), work), there.run(request(), work)])
    expect(runs).toBe(1)
  })

  it('is refused with another body, even while the first call is running', async () => {
    const { here, there } = open()
    void here.run(request(), never)
    await expect(there.run(request({}, 'f2'), never)).rejects.toMatchObject({ code: 'idempotency_key_reused' })
  })
})

describe('a refusal', () => {
  it('is stored like an answer', async () => {
    const { here, there } = open()
    const refusal = new ServiceError('not_found', { param: 'tenant_id', message: 'No such tenant.' })
    await expect(here.run(request(), () => Promise.reject(refusal))).rejects.toBe(refusal)
    const outcome = await there.run(request(), never)
    expect(outcome).toMatchObject({ replayed: true, error: { code: 'not_found', message: 'No such tenant.' } })
  })

  it.each([
    new StoreUnavailable('x'),
    new ServiceError('rate_limit_exceeded'),
    new ServiceError('actor_parked'),
    new Error('a bug'),
  ])('that may not recur ($message) releases the key with the same seed', async (trouble) => {
    const { here, there } = open()
    const seeds: (string | null)[] = []
    const failing = here.run(request(), ({ seed }) => {
      seeds.push(seed)
      return Promise.reject(trouble)
    })
    await expect(failing).rejects.toBe(trouble)
    const outcome = await there.run(request(), async ({ seed }) => void seeds.push(seed))
    expect(outcome.replayed).toBe(false)
    expect(seeds[1]).toBe(seeds[0])
  })
})

describe('a clock that is set back', () => {
  const dayMs = 24 * hourMs

  it('blocks no key for an attempt that was interrupted before', async () => {
    const { here, there, time } = open()
    void here.run(request(), never)
    await new Promise(setImmediate)
    time.now -= dayMs
    expect(await there.run(request(), async () => 'again')).toEqual({ replayed: false, result: 'again' })
  })
})

describe('an answer', () => {
  it('is returned although it could not be stored, and produced again later under the same seed', async () => {
    let failing = true
    const { here, there, time } = open((records) => ({
      ...boundRecords(records),
      replace: (...given) => (failing ? Promise.reject(new StoreUnavailable('x')) : records.replace(...given)),
    }))
    const work = async ({ seed }: { seed: string | null }) => seed
    const first = await here.run(request(), work)
    failing = false
    time.now += 31_000
    expect(await there.run(request(), work)).toEqual({ replayed: false, result: 'result' in first && first.result })
  })

  it('that shows a secret is not stored, and is refused when the key is sent again', async () => {
    const { here, records } = open()
    await here.run(request({ secret: true }), async () => ({ key: 'csk_x' }))
    const [row] = await records.list(idempotencyKeys, projectScope('prj_1'), { limit: 1 })
    expect(row?.data.answer).toBe('prj_1|idempotency_keys|idem:1#{"result":null}')
    await expect(here.run(request({ secret: true }), () => expect.unreachable())).rejects.toMatchObject({
      code: 'idempotency_secret_shown',
    })
  })

  it('is stored under the tenant of its credential', async () => {
    const { here, records } = open()
    await here.run(request({ scope: tenantScope('prj_1', 'ten_1') }), async () => 'x')
    expect(await records.list(idempotencyKeys, tenantScope('prj_1', 'ten_2'), { limit: 1 })).toEqual([])
  })
})
