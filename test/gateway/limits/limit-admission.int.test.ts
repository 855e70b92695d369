import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { MongoClient } from 'mongodb'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { usageRows } from '#gateway/ledger/usage-rows.ts'
import { KeyWindows } from '#gateway/limits/key-windows.ts'
import { budgetCounters } from '#gateway/limits/kinds.ts'
import { counterId } from '#gateway/limits/limit-admission.ts'
import { type Amount, amountOf, zero } from '#gateway/prices/money.ts'
import { systemClock } from '#runtime/clock.ts'
import { isObject } from '#runtime/schema.ts'
import { startRedis } from '#scripts/services/redis.ts'
import type { Service } from '#scripts/services/service.ts'
import type { Storage } from '#storage/ports.ts'
import { fromKeptSources } from '#test/start/from-kept-sources.ts'
import { openPatientMongo } from '#test/storage/mongo-patience.ts'
import { openOn } from '#test/storage/redis/opening.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { managedRoute, openLedger } from '../ledger/calls.ts'
import { limit, openLimited, requestOf, scope } from './limited.ts'

const url = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/'
const database = `limits_${randomBytes(6).toString('hex')}`
/** Longer than a machine may pause, so that the reservations of a live process do not expire. */
const holdMs = 8_000

/** A process that spends the budget with 100 concurrent calls. */
interface Spender {
  /** Resolves when the process has printed the word. */
  says(word: string): Promise<void>
  go(): void
  kill(): void
  readonly ended: Promise<unknown>
}

const started: Spender[] = []

const spender = (named: string): Spender => {
  const script = new URL('./spender.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [...fromKeptSources, script, url, named, String(holdMs), '100'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part) => {
    text += String(part)
  })
  const ended = once(child, 'close')
  const one: Spender = {
    says: async (word) => {
      while (!text.includes(word)) {
        const over = await Promise.race([once(child.stdout, 'data').then(() => false), ended.then(() => true)])
        if (over && !text.includes(word)) throw new Error(`ended with ${text}`)
      }
    },
    go: () => void child.stdin.write('go'),
    kill: () => void child.kill('SIGKILL'),
    ended,
  }
  started.push(one)
  return one
}

/** Starts processes and resolves when they are ready. */
const spenders = async (named: string, count: number): Promise<readonly Spender[]> => {
  const ready = Array.from({ length: count }, () => spender(named))
  await Promise.all(ready.map(({ says }) => says('ready')))
  return ready
}

/** The sum of the usage rows of the project, and the sum of the budget counter. */
const spentOf = async (
  storage: Storage,
  limitId: string,
): Promise<{ readonly rows: Amount; readonly counted: Amount }> => {
  const { ledger } = await openLedger(storage, systemClock)
  const rows = await ledger.records.list(usageRows, scope, { limit: 100_000 })
  const counter = await storage.records.get(budgetCounters, scope, counterId(limitId))
  await ledger.stop()
  return {
    rows: rows.reduce((sum, { data }) => sum.plus(amountOf(String(data.provider_cost_usd))), zero),
    counted: amountOf(String(counter?.data.total_usd)),
  }
}

/** The reservations of processes that have not expired. */
const holdsOf = async (storage: Storage, limitId: string): Promise<readonly string[]> => {
  const row = await storage.records.get(budgetCounters, scope, counterId(limitId))
  const held = Object.values(row?.data.held ?? {})
  return held.flatMap((hold) => (isObject(hold) && Number(hold.until) > Date.now() ? [String(hold.usd)] : []))
}

afterEach(() => {
  for (const one of started.splice(0)) one.kill()
})

afterAll(async () => {
  const client = new MongoClient(url)
  for (const name of ['two', 'killed']) await client.db(`${database}_${name}`).dropDatabase()
  await client.close()
})

const budget = amountOf('60')

const opened = async (name: string) => {
  const storage = await openPatientMongo({ url, database: `${database}_${name}` })
  await openLimited(storage.records, systemClock)
  const limitId = await limit(storage.records, systemClock, { budget_total_usd: budget.toFixed() })
  return { storage, limitId }
}

describe('a budget shared by several processes', () => {
  it('is not exceeded by two hundred concurrent calls', async () => {
    const { storage, limitId } = await opened('two')
    const processes = await spenders(`${database}_two`, 2)
    for (const { go } of processes) go()
    await Promise.all(processes.map(({ says, ended }) => Promise.all([says('refused'), ended])))
    const { rows, counted } = await spentOf(storage, limitId)
    expect(rows.toFixed()).toBe(counted.toFixed())
    expect(counted.lessThanOrEqualTo(budget)).toBe(true)
    // A process continues until no further call fits next to the reservations of the other one.
    expect(counted.greaterThan(budget.dividedBy(2))).toBe(true)
    await storage.close()
  }, 180_000)

  it('is not exceeded when a process is killed, and its reservations become available later', async () => {
    const { storage, limitId } = await opened('killed')
    const [dying, living] = await spenders(`${database}_killed`, 2)
    if (dying === undefined || living === undefined) throw new Error('not started')
    dying.go()
    await dying.says('spending')
    living.go()
    dying.kill()
    await Promise.all([dying.ended, living.ended])
    const between = await spentOf(storage, limitId)
    expect(between.rows.lessThanOrEqualTo(between.counted)).toBe(true)
    expect(between.counted.lessThanOrEqualTo(budget)).toBe(true)
    await vi.waitFor(async () => expect(await holdsOf(storage, limitId)).toEqual([]), {
      timeout: 60_000,
      interval: 200,
    })
    const [last] = await spenders(`${database}_killed`, 1)
    last?.go()
    await Promise.all([last?.says('refused'), last?.ended])
    const { rows, counted } = await spentOf(storage, limitId)
    expect(rows.lessThanOrEqualTo(counted)).toBe(true)
    expect(counted.lessThanOrEqualTo(budget)).toBe(true)
    expect(counted.greaterThan(budget.minus(2))).toBe(true)
    await storage.close()
  }, 180_000)
})

describe('requests per minute over several processes', () => {
  let redis: Service | undefined
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis?.stop())

  it('are limited for all processes together', async () => {
    const { records } = openMemoryStorage()
    const services = await Promise.all([1, 2].map(() => openOn(redis?.url ?? '', 'gateway')))
    const processes = await Promise.all(services.map(({ limits }) => openLimited(records, systemClock, { limits })))
    await limit(records, systemClock, { requests_per_minute: 30 })
    const pending = Array.from({ length: 200 }, async (_, n) => processes[n % 2]?.admission.admit(requestOf()))
    const outcomes = await Promise.allSettled(pending)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(30)
    await Promise.all(services.map((service) => service.close()))
  })

  it('are limited for the key of a provider: exactly as many calls are sent as it allows', async () => {
    const services = await Promise.all([1, 2].map(() => openOn(redis?.url ?? '', 'keys')))
    const processes = services.map(({ limits }) => new KeyWindows(limits, systemClock))
    const keyLimits = { requestsPerMinute: 30, tokensPerMinute: null }
    const route = { ...managedRoute, connectionId: 'pvc_1', keyLimits }
    const pending = Array.from({ length: 200 }, async (_, n) => processes[n % 2]?.admit({ route, requests: 1 }))
    const permits = (await Promise.all(pending)).flatMap((each) =>
      each === undefined || 'waitS' in each ? [] : [each],
    )
    expect(permits).toHaveLength(30)
    permits[0]?.giveBack()
    const admitted = async () => expect(await processes[1]?.admit({ route, requests: 1 })).toHaveProperty('settle')
    await vi.waitFor(admitted, { timeout: 30_000 })
    expect(await processes[0]?.admit({ route, requests: 1 })).toEqual({ waitS: expect.any(Number) })
    await Promise.all(services.map((service) => service.close()))
  })

  it('are limited in tokens too: three processes together exceed the limit by at most one call', async () => {
    const { records } = openMemoryStorage()
    const services = await Promise.all([1, 2, 3].map(() => openOn(redis?.url ?? '', 'tokens')))
    const processes = await Promise.all(services.map(({ limits }) => openLimited(records, systemClock, { limits })))
    await limit(records, systemClock, { tokens_per_minute: 1_000 })
    let used = 0
    const call = async (n: number): Promise<void> => {
      const ticket = await processes[n % 3]?.admission.admit(requestOf({ tokens: () => ({ max: 90 }) }))
      used += 60
      await new Promise((resolve) => setImmediate(resolve))
      ticket?.settle('0', 60)
    }
    for (let round = 0; round < 5; round++) await Promise.allSettled(Array.from({ length: 200 }, (_, n) => call(n)))
    expect(used).toBeGreaterThan(850)
    expect(used).toBeLessThanOrEqual(1_000 + 90)
    await Promise.all(services.map((service) => service.close()))
  })
})
