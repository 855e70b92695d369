import { describe, expect, it, vi } from 'vitest'
import { runRows } from '#actors/runs/kinds.ts'
import { queueIdOf } from '#actors/runs/lanes.ts'
import { runQueueDefinition } from '#machines/run-queue/run-queue-definition.ts'
import { contextOf } from '#runtime/schema.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import { functionTool } from '../sessions/approving.ts'
import { callOf, type World } from '../sessions/harness.ts'
import { AnsweringModel, cancelRun, openRuns, runOf, startRun, until, untilEnd, withTools } from './run-world.ts'

// many steps of many actors: slow on a busy machine
vi.setConfig({ testTimeout: 60_000 })

const queueOf = async (world: World) => {
  const queue = await world.host.load(queueIdOf('prj_a'))
  if (queue === null) throw new Error('nobody has asked for a slot')
  return contextOf(runQueueDefinition, queue.state.snapshot)
}

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/** A model that answers only when the test lets it, and records the order of the requests. */
class HeldModel extends AnsweringModel {
  readonly order: string[] = []
  #waiting: (() => void)[] = []
  #open = false

  constructor() {
    super(async ({ messages }) => {
      this.order.push(messages[0]?.content ?? '')
      if (!this.#open) await new Promise<void>((resolve) => this.#waiting.push(resolve))
      return { text: 'done' }
    })
  }

  /** Answers the call that has waited longest. */
  answerOne(): void {
    this.#waiting.shift()?.()
  }

  answerAll(): void {
    this.#open = true
    for (const answer of this.#waiting.splice(0)) answer()
  }
}

const startFor = (world: World, tenant: string | undefined, prompt: string) =>
  startRun(world, 'agt_1', { input: { prompt }, ...(tenant !== undefined && { tenant_id: tenant }) })

describe('the queue of a project', () => {
  it('limits the concurrent runs of a project, and completes all runs', async () => {
    const model = new AnsweringModel(async () => {
      await calm()
      return { text: 'done' }
    })
    const world = await openRuns({}, { model, concurrency: { perProject: 5, perTenant: 2 } })
    const runs = await Promise.all(times(60, (n) => startFor(world, `ten_${n % 4}`, `${n}`)))
    await Promise.all(runs.map((run) => untilEnd(world, run)))
    for (const run of runs) expect((await runOf(world, run)).status).toBe('completed')
    expect(model.max).toBeLessThanOrEqual(5)
    expect(model.requests).toHaveLength(60)
    await calm()
    expect((await queueOf(world)).holders).toEqual({})
  })

  it('serves tenants in turn: a tenant with few runs does not wait behind one with many', async () => {
    const model = new HeldModel()
    const clock = new VirtualClock()
    const world = await openRuns({}, { model, clock, concurrency: { perProject: 1, perTenant: 1 } })
    for (const n of times(6, (each) => each)) await startFor(world, 'ten_a', `a${n}`)
    await clock.advance(100)
    await startFor(world, 'ten_b', 'b0')
    await startFor(world, undefined, 'c0')
    for (let step = 0; step < 8; step++) {
      await clock.advance(200)
      model.answerOne()
    }
    await clock.advance(200)
    expect(model.order).toHaveLength(8)
    expect([model.order.indexOf('b0'), model.order.indexOf('c0')].every((place) => place <= 3)).toBe(true)
    expect(model.order.filter((each) => each.startsWith('a'))).toEqual(times(6, (n) => `a${n}`))
  })

  it('limits runs without a tenant by the project limit only', async () => {
    const model = new HeldModel()
    const clock = new VirtualClock()
    const world = await openRuns({}, { model, clock, concurrency: { perProject: 3, perTenant: 1 } })
    for (const n of times(5, (each) => each)) await startFor(world, undefined, `c${n}`)
    for (const n of times(2, (each) => each)) await startFor(world, 'ten_a', `a${n}`)
    await clock.advance(500)
    expect(model.running).toBe(3)
    expect(model.order).toEqual(['c0', 'c1', 'c2'])
    model.answerAll()
    await clock.advance(1000)
    expect(model.order).toHaveLength(7)
  })

  it('serves every tenant if there are more than it reads at once', async () => {
    const model = new HeldModel()
    const clock = new VirtualClock()
    const world = await openRuns({}, { model, clock, concurrency: { perProject: 80, perTenant: 1 } })
    for (const n of times(90, (each) => each)) {
      await startFor(world, `ten_${n}`, 'first')
      await startFor(world, `ten_${n}`, 'second')
    }
    await clock.advance(2000)
    expect(model.running).toBe(80)
    model.answerAll()
    await clock.advance(5000)
    expect(model.order).toHaveLength(180)
  })

  it('releases the slot of a run that waits for an approval, and the run later continues and completes', async () => {
    const model = new AnsweringModel(({ messages }) => {
      const requiresApproval = messages[0]?.content === 'confirm' && messages.length === 1
      return requiresApproval ? { toolCalls: [{ callId: 'c', name: 'confirm', arguments: '{}' }] } : { text: 'done' }
    })
    const world = await openRuns(
      { agt_1: withTools(functionTool('confirm')) },
      { model, concurrency: { perProject: 1, perTenant: 1 } },
    )
    const waitingRun = await startFor(world, 'ten_a', 'confirm')
    const events = await until(world, waitingRun, 'run.requires_action')
    await untilEnd(world, await startFor(world, 'ten_a', 'other'))
    const action_id = String(events.at(-1)?.payload.action_id)
    await world.useCases['actions.approve'](callOf({ action_id }, {}, { tool_results: [{ action_id, output: '1' }] }))
    expect((await untilEnd(world, waitingRun)).at(-1)?.event_type).toBe('run.completed')
  })

  it('skips runs that were cancelled while they waited', async () => {
    const model = new HeldModel()
    const clock = new VirtualClock()
    const world = await openRuns({}, { model, clock, concurrency: { perProject: 1, perTenant: 1 } })
    const runs = [
      await startFor(world, 'ten_a', '0'),
      await startFor(world, 'ten_a', '1'),
      await startFor(world, 'ten_a', '2'),
    ]
    await clock.advance(200)
    await cancelRun(world, runs[1] ?? '')
    model.answerAll()
    await clock.advance(500)
    expect(model.order).toEqual(['0', '2'])
    expect((await queueOf(world)).holders).toEqual({})
  })

  it('writes no commit for a run that waits behind a full project', async () => {
    const model = new HeldModel()
    const clock = new VirtualClock()
    const world = await openRuns({}, { model, clock, concurrency: { perProject: 2, perTenant: 2 } })
    for (const n of times(3, (each) => each)) await startFor(world, 'ten_a', `${n}`)
    await clock.advance(500)
    const seq = async () => (await world.host.load(queueIdOf('prj_a')))?.state.seq
    const before = await seq()
    for (const n of times(50, (each) => each)) await startFor(world, 'ten_a', `more ${n}`)
    await clock.advance(500)
    expect(await seq()).toBe(before)
    model.answerAll()
    await clock.advance(10_000)
    expect(model.order).toHaveLength(53)
  })

  it('recovers the slot of a run that was removed from the store', async () => {
    const storage = openMemoryStorage()
    const clock = new VirtualClock()
    const model = new HeldModel()
    const world = await openRuns({}, { model, clock, storage, concurrency: { perProject: 1, perTenant: 1 } })
    const lost = await startFor(world, 'ten_a', 'lost')
    await clock.advance(500)
    await startFor(world, 'ten_a', 'next')
    await clock.advance(500)
    expect(model.order).toEqual(['lost'])
    // as if an operator removed it from the store
    world.host.drop(lost)
    await storage.commits.forget(lost)
    await storage.records.remove(runRows, projectScope('prj_a'), lost)
    await clock.advance(180_000)
    expect(model.order).toEqual(['lost', 'next'])
  })
})

describe('after a restart', () => {
  it('continues the waiting and the running runs', async () => {
    const storage = openMemoryStorage()
    const held = new HeldModel()
    const clock = new VirtualClock()
    const first = await openRuns({}, { storage, clock, model: held, concurrency: { perProject: 2, perTenant: 2 } })
    const runs = []
    for (const n of times(7, (each) => each)) runs.push(await startFor(first, `ten_${n % 2}`, `${n}`))
    await clock.advance(500)
    expect(held.running).toBe(2)
    // the first process dies: nothing of it continues
    first.host.effects.kill()
    const model = new AnsweringModel(() => ({ text: 'done' }))
    const second = await openRuns({}, { storage, clock, model, concurrency: { perProject: 2, perTenant: 2 } })
    await clock.advance(20_000)
    for (const run of runs) expect((await runOf(second, run)).status).toBe('completed')
    expect(model.requests).toHaveLength(7)
    expect((await queueOf(second)).holders).toEqual({})
  })
})
