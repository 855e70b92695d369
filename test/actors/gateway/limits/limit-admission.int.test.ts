import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { MongoClient } from 'mongodb'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { startRedis } from '../../../../scripts/services/redis.ts'
import type { Service } from '../../../../scripts/services/service.ts'
import { budgetCounters } from '../../../../src/actors/gateway/limits/kinds.ts'
import { counterId } from '../../../../src/actors/gateway/limits/limit-admission.ts'
import { systemClock } from '../../../../src/actors/runtime/clock.ts'
import { isObject } from '../../../../src/actors/runtime/schema.ts'
import { usageRows } from '../../../../src/actors/usage/kinds.ts'
import { type Amount, amountOf, zero } from '../../../../src/actors/usage/money.ts'
import { openMemoryStorage } from '../../../../src/storage/memory/open-memory-storage.ts'
import { openMongoStorage } from '../../../../src/storage/mongo/open-mongo-storage.ts'
import type { Storage } from '../../../../src/storage/ports.ts'
import { openOn } from '../../../storage/redis/opening.ts'
import { openLedger } from '../ledger/calls.ts'
import { askOf, limit, openLimited, scope } from './limited.ts'

const url = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/'
const database = `limits_${randomBytes(6).toString('hex')}`
const holdMs = 2_000
const started: ChildProcess[] = []

/** Starts a process that spends the budget by 100 calls at once. */
const spender = (named: string): ChildProcess => {
  const script = new URL('./spender.ts', import.meta.url).pathname
  const child = spawn(process.execPath, ['--no-warnings', script, url, named, String(holdMs), '100'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.push(child)
  return child
}

/** Resolves when the process has said so. */
const says = async (child: ChildProcess, word: string): Promise<void> => {
  let text = ''
  for await (const part of child.stdout?.setEncoding('utf8') ?? []) {
    text += String(part)
    if (text.includes(word)) return
  }
  throw new Error(`ended with ${text}`)
}

/** What the usage rows of the project add up to, and what the counter says. */
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

/** What processes hold that were heard of a short time ago. */
const holdsOf = async (storage: Storage, limitId: string): Promise<readonly string[]> => {
  const row = await storage.records.get(budgetCounters, scope, counterId(limitId))
  const held = Object.values(row?.data.held ?? {})
  return held.flatMap((hold) => (isObject(hold) && Number(hold.until) > Date.now() ? [String(hold.usd)] : []))
}

afterEach(() => {
  for (const child of started) if (child.exitCode === null) child.kill('SIGKILL')
})

afterAll(async () => {
  const client = new MongoClient(url)
  for (const name of ['two', 'killed']) await client.db(`${database}_${name}`).dropDatabase()
  await client.close()
})

const budget = amountOf('60')

const opened = async (name: string) => {
  const storage = await openMongoStorage({ url, database: `${database}_${name}` })
  await openLimited(storage.records, systemClock)
  const limitId = await limit(storage.records, systemClock, { budget_total_usd: budget.toFixed() })
  return { storage, limitId }
}

describe('a budget over several processes', () => {
  it('is spent by two hundred calls at once, and never overspent', async () => {
    const { storage, limitId } = await opened('two')
    const children = [spender(`${database}_two`), spender(`${database}_two`)]
    await Promise.all(children.map(async (child) => Promise.all([says(child, 'refused'), once(child, 'exit')])))
    const { rows, counted } = await spentOf(storage, limitId)
    expect(rows.toFixed()).toBe(counted.toFixed())
    expect(counted.lessThanOrEqualTo(budget)).toBe(true)
    // a process goes on until not even one more call fits beside what others hold
    expect(counted.greaterThan(budget.dividedBy(2))).toBe(true)
    await storage.close()
  }, 90_000)

  it('is not overspent when a process is killed in the middle, and what it held is spent by others in the end', async () => {
    const { storage, limitId } = await opened('killed')
    const children = [spender(`${database}_killed`), spender(`${database}_killed`)]
    const [dying] = children
    if (dying === undefined) throw new Error('not started')
    await says(dying, 'spending')
    dying.kill('SIGKILL')
    await Promise.all(children.map((child) => (child.exitCode ?? child.signalCode) || once(child, 'exit')))
    const between = await spentOf(storage, limitId)
    expect(between.rows.lessThanOrEqualTo(between.counted)).toBe(true)
    expect(between.counted.lessThanOrEqualTo(budget)).toBe(true)
    await vi.waitFor(async () => expect(await holdsOf(storage, limitId)).toEqual([]), {
      timeout: 20_000,
      interval: 200,
    })
    const last = spender(`${database}_killed`)
    await Promise.all([says(last, 'refused'), once(last, 'exit')])
    const { rows, counted } = await spentOf(storage, limitId)
    expect(rows.lessThanOrEqualTo(counted)).toBe(true)
    expect(counted.lessThanOrEqualTo(budget)).toBe(true)
    expect(counted.greaterThan(budget.minus(2))).toBe(true)
    await storage.close()
  }, 90_000)
})

describe('requests a minute over several processes', () => {
  let redis: Service | undefined
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis?.stop())

  it('are as many as the limit for all of them together', async () => {
    const { records } = openMemoryStorage()
    const services = await Promise.all([1, 2].map(() => openOn(redis?.url ?? '', 'gateway')))
    const processes = await Promise.all(services.map(({ limits }) => openLimited(records, systemClock, { limits })))
    await limit(records, systemClock, { requests_per_minute: 30 })
    const asked = Array.from({ length: 200 }, async (_, n) => processes[n % 2]?.admission.admit(askOf()))
    const outcomes = await Promise.allSettled(asked)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(30)
    await Promise.all(services.map((service) => service.close()))
  })
})
