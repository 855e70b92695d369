import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { actorCaller } from '#gateway/call/caller.ts'
import type { ModelRequest } from '#gateway/call/provider-port.ts'
import { usageRows } from '#gateway/ledger/usage-rows.ts'
import { grantCredits } from '#gateway/limits/grant-credits.ts'
import { budgetCounters, type LimitData } from '#gateway/limits/kinds.ts'
import { counterId } from '#gateway/limits/limit-admission.ts'
import { amountOf, textOf } from '#gateway/prices/money.ts'
import type { TurnModels } from '#gateway/turns/turn-models.ts'
import { systemClock } from '#runtime/clock.ts'
import type { RateLimits } from '#storage/cluster-ports.ts'
import type { LogEvent, Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { cancelRun, openRuns, runOf, startRun, untilEnd } from '#test/actors/runs/run-world.ts'
import { newSession, openWorld, turn, typesOf } from '#test/actors/sessions/harness.ts'
import { openServices } from '#test/support/open-services.ts'
import { costOf } from '../call/cost-of.ts'
import { cut, openUpstream, refusal, type Upstream, whole } from '../call/scripted-upstream.ts'
import { openAi } from '../call/wire-samples.ts'
import { organization } from '../limits/limited.ts'
import { limitProject, openLimitedTurns, project } from './limited-turns.ts'

// Real time passes until a limit has capacity again.
vi.setConfig({ testTimeout: 60_000 })

let upstream: Upstream
let storage: Storage
const opened: { close(): Promise<void> }[] = []

beforeEach(async () => {
  upstream = await openUpstream()
  upstream.script(whole(openAi.text))
  ;({ storage } = await openServices())
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()))
  await upstream.close()
})

/** The turns of one process. */
const open = async (rates?: RateLimits): Promise<TurnModels> => {
  const made = await openLimitedTurns(storage.records, systemClock, upstream, rates)
  opened.push(made)
  return made.turns
}

const limit = (data: Partial<LimitData>): Promise<string> => limitProject(storage.records, systemClock, data)

const request: ModelRequest = {
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'Hi' }],
  tools: [],
  maxTokens: 100,
  idempotencyKey: 'k',
}
const whose = actorCaller({ project, tenant: null, user: null }, null)

/** One model call of a turn. */
const sendRequest = (turns: TurnModels) =>
  turns.call(request, whose, { onDelta: () => {}, signal: new AbortController().signal })

const price = costOf('gpt-4o-mini', { inputTokens: 20, outputTokens: 7, cachedTokens: 5, reasoningTokens: 2 }) ?? ''

/** The total in the stored counter of a limit. */
const spentOf = async (id: string): Promise<unknown> => {
  const row = await storage.records.get(budgetCounters, projectScope(project), counterId(id))
  return row?.data.total_usd
}

const usageOf = () => storage.records.list(usageRows, projectScope(project), { limit: 100 })

/** Admits the first `before` requests and refuses the next `times`, with this retry delay; it depends on no clock. */
const refusing = (times: number, resetMs: number, before = 0) => {
  let requestCount = 0
  const waiting = Promise.withResolvers<void>()
  const limits: RateLimits = {
    take: async () => {
      const place = ++requestCount
      const allowed = place <= before || place > before + times
      if (!allowed) waiting.resolve()
      return { allowed, remaining: 0, resetMs }
    },
    hold: async () => ({ allowed: true, remaining: 1, resetMs: 0, held: { units: 0, back: 0 } }),
    settle: async (_key, _limit, { held }) => held,
    reset: async () => {},
  }
  return { limits, refused: waiting.promise }
}

const endOf = (events: readonly LogEvent[]) => events.at(-1)

describe('the turn of a session', () => {
  const play = async (rates?: RateLimits) => {
    const world = await openWorld({ storage, turns: await open(rates) })
    const session = await newSession(world)
    return { world, say: () => turn(world, session, { input: 'Hi' }) }
  }

  it('counts against a limit of requests, and fails with its code when none is left', async () => {
    await limit({ requests_per_minute: 1 })
    const { say } = await play(refusing(1, 3_600_000, 1).limits)
    expect(endOf(await say())).toMatchObject({ event_type: 'turn.completed' })
    expect(endOf(await say())).toMatchObject({
      event_type: 'turn.failed',
      payload: { output: { error: { code: 'rate_limit_exceeded' } } },
    })
    expect(upstream.received).toHaveLength(1)
  })

  it('counts against a limit of tokens', async () => {
    await limit({ tokens_per_minute: 27 })
    const { say } = await play()
    expect(endOf(await say())).toMatchObject({ event_type: 'turn.completed' })
    expect(endOf(await say())).toMatchObject({
      event_type: 'turn.failed',
      payload: { output: { error: { code: 'rate_limit_exceeded' } } },
    })
  })

  it('fails with budget_exceeded when it could exceed a budget, without a model call', async () => {
    await limit({ budget_day_usd: '0.000001' })
    const { say } = await play()
    expect(endOf(await say())).toMatchObject({
      event_type: 'turn.failed',
      payload: { output: { error: { code: 'budget_exceeded' } } },
    })
    expect(upstream.received).toEqual([])
    expect(await usageOf()).toEqual([])
  })

  it('fails with credit_balance_exhausted when the credits are used up', async () => {
    await grantCredits(storage.records, systemClock.now, { organization, usd: '0.000001' })
    const { say } = await play()
    expect(endOf(await say())).toMatchObject({
      event_type: 'turn.failed',
      payload: { output: { error: { code: 'credit_balance_exhausted' } } },
    })
    expect(upstream.received).toEqual([])
  })

  it('leaves one usage row, and is counted in the stored budget before its client gets the result', async () => {
    const id = await limit({ budget_day_usd: '1' })
    const { world, say } = await play()
    for (let turns = 1; turns <= 3; turns++) {
      expect(endOf(await say())).toMatchObject({ event_type: 'turn.completed' })
      expect(await spentOf(id)).toBe(textOf(amountOf(price).times(turns)))
    }
    await world.runtime.drain(10_000)
    const rows = await usageOf()
    expect(rows.map(({ data }) => [data.provider_cost_usd, data.billing_mode])).toEqual(
      Array(3).fill([price, 'managed']),
    )
  })

  it('costs its budget nothing when the provider refuses it', async () => {
    const id = await limit({ budget_day_usd: '1' })
    upstream.script(refusal(400, { message: 'bad schema' }))
    const { say } = await play()
    expect(endOf(await say())).toMatchObject({
      event_type: 'turn.failed',
      payload: { output: { error: { code: 'bad_request' } } },
    })
    upstream.script(whole(openAi.text))
    await say()
    expect(await spentOf(id)).toBe(price)
  })
})

describe('a run', () => {
  it('waits for a limit of requests and then continues, without an event in its log', async () => {
    await limit({ requests_per_minute: 1 })
    const { limits } = refusing(1, 300)
    const world = await openRuns({}, { storage, turns: await open(limits) })
    const run = await startRun(world, 'agt_1')
    expect(typesOf(await untilEnd(world, run))).toEqual([
      'run.queued',
      'run.started',
      'run.model_call.started',
      'run.model_call.completed',
      'run.completed',
    ])
    expect(upstream.received).toHaveLength(1)
    await world.runtime.drain(10_000)
    expect(await usageOf()).toHaveLength(1)
  })

  it('is cancelled at once while it waits', async () => {
    await limit({ requests_per_minute: 1 })
    const { limits, refused } = refusing(Number.POSITIVE_INFINITY, 3_600_000)
    const world = await openRuns({}, { storage, turns: await open(limits) })
    const run = await startRun(world, 'agt_1')
    await refused
    await cancelRun(world, run)
    expect(endOf(await untilEnd(world, run))).toMatchObject({ event_type: 'run.cancelled' })
    expect(upstream.received).toEqual([])
  })

  it('waits no longer than its maximum duration', async () => {
    await limit({ requests_per_minute: 1 })
    const { limits } = refusing(Number.POSITIVE_INFINITY, 3_600_000)
    const agents = { agt_1: { source: { limits: { max_duration_s: 1 } } } }
    const world = await openRuns(agents, { storage, turns: await open(limits) })
    const run = await startRun(world, 'agt_1')
    expect(endOf(await untilEnd(world, run))).toMatchObject({ event_type: 'run.failed' })
    expect(upstream.received).toEqual([])
  })

  it('fails with budget_exceeded when it could exceed a budget', async () => {
    await limit({ budget_total_usd: '0.000001' })
    const world = await openRuns({}, { storage, turns: await open() })
    const run = await startRun(world, 'agt_1')
    await untilEnd(world, run)
    expect(await runOf(world, run)).toMatchObject({ status: 'failed', error: { code: 'budget_exceeded' } })
  })
})

it('two processes spend one budget concurrently without exceeding it', async () => {
  const calls = 20
  const id = await limit({ budget_total_usd: textOf(amountOf(price).times(calls)) })
  const processes = [await open(), await open()]
  const results = await Promise.allSettled(
    processes.flatMap((turns) => Array.from({ length: 40 }, () => sendRequest(turns))),
  )
  const answered = results.filter(({ status }) => status === 'fulfilled')
  const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
  expect(new Set(codes)).toEqual(new Set(['budget_exceeded']))
  expect(answered.length).toBeGreaterThan(0)
  expect(answered.length).toBeLessThanOrEqual(calls)
  expect(upstream.received).toHaveLength(answered.length)
  expect(await spentOf(id)).toBe(textOf(amountOf(price).times(answered.length)))
})

describe('an answer that a crash cut', () => {
  const text = 'Eight tokens are in this text.'

  it('counts in the budget with what its usage row costs, also beyond what the budget has left', async () => {
    const id = await limit({ budget_total_usd: '0.000001' })
    const charge = await (await open()).lost(request, whose, text)
    expect(charge).toMatchObject({ route: { model: 'gpt-4o-mini' }, usage: { outputTokens: 8, estimated: true } })
    expect(charge?.usage.inputTokens).toBeGreaterThan(0)
    expect(await spentOf(id)).toBe(charge?.costUsd)
    expect(upstream.received).toEqual([])
  })

  it('has the same charge in a budget that is used up', async () => {
    await limit({ budget_total_usd: '0' })
    const charge = await (await open()).lost(request, whose, text)
    expect(charge?.costUsd).not.toBeNull()
  })
})

describe('an answer that breaks off', () => {
  beforeEach(() => {
    upstream.script(cut(openAi.beginning))
  })

  it('leaves a usage row for the received part that equals the cost in its budget', async () => {
    const id = await limit({ budget_day_usd: '1' })
    const world = await openWorld({ storage, turns: await open() })
    const events = await turn(world, await newSession(world), { input: 'Hi' })
    expect(endOf(events)).toMatchObject({
      event_type: 'turn.failed',
      payload: { output: { error: { code: 'provider_stream_broken' } } },
    })
    await world.runtime.drain(10_000)
    const [row, ...more] = await usageOf()
    expect(more).toEqual([])
    expect(row?.data).toMatchObject({ operation: 'session.turn', estimated: true, output_tokens: 2 })
    expect(await spentOf(id)).toBe(row?.data.provider_cost_usd)
  })

  it('is charged to its run', async () => {
    const world = await openRuns({}, { storage, turns: await open() })
    const run = await startRun(world, 'agt_1')
    expect(endOf(await untilEnd(world, run))).toMatchObject({ event_type: 'run.failed' })
    await world.runtime.drain(10_000)
    expect((await usageOf()).map(({ data }) => [data.operation, data.run_id])).toEqual([['run', run]])
  })
})
