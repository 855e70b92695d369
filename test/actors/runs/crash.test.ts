import { describe, expect, it } from 'vitest'
import { queueIdOf } from '#actors/runs/lanes.ts'
import { runQueueDefinition } from '#machines/run-queue/run-queue-definition.ts'
import { contextOf } from '#runtime/schema.ts'
import type { LogEvent } from '#storage/ports.ts'
import { type Fault, FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { httpTool, keyed } from '../sessions/approving.ts'
import { callOf, typesOf, type World } from '../sessions/harness.ts'
import { type Agents, AnsweringModel, openRuns, runOf } from './run-world.ts'

const agents: Agents = {
  agt_1: { subagents: [{ agent_id: 'agt_2', version: null, description: null }] },
  agt_2: { config: { ...noTools(), tools: [httpTool('order', { needsApproval: true })] } },
}

function noTools() {
  const none = { model: null, system_prompt: null, temperature: null, max_tokens: null, pause_on_tool_calls: null }
  return { ...none, tools: [] }
}

/** The parent delegates once, the child orders once; what each says depends only on what it is sent. */
const model = () =>
  new AnsweringModel(({ messages, tools }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return { text: `It says: ${last.content}` }
    const [tool] = tools
    const task = JSON.stringify({ task: 'order one' })
    return { toolCalls: [{ callId: 'c', name: tool?.name ?? '', arguments: task }] }
  })

/** What outlives every process: the store, the clock, and what the tool did. */
class Outside {
  readonly storage = openMemoryStorage()
  readonly clock = new VirtualClock()
  readonly orders: string[] = []
  faulty = new FaultyStorage(this.storage)
  world: World | undefined
  run = ''

  async open(...faults: readonly (Fault | undefined)[]): Promise<World> {
    const last = this.faulty
    this.faulty = new FaultyStorage(this.storage)
    this.faulty.next(...faults)
    const opening = openRuns(agents, {
      storage: this.faulty.storage,
      clock: this.clock,
      model: model(),
      concurrency: { perProject: 1, perTenant: 1 },
      runTool: async ({ idempotencyKey }) => {
        this.orders.push(idempotencyKey)
        return { ok: true, output: 'ordered' }
      },
    })
    await last.release()
    this.world = await Promise.race([opening, this.#ticking(opening)])
    return this.world
  }

  /** Advances time until the run has ended or the process has died. @returns whether the run has ended */
  async live(world: World): Promise<boolean> {
    const dead = this.faulty.death.then(() => 'dead' as const)
    for (let step = 0; step < 400; step++) {
      await this.clock.advance(250)
      // a process that dies answers nothing more
      const seen = await Promise.race([this.#poke(world).catch(() => 'later' as const), dead, this.#patience()])
      if (seen === 'dead') return false
      if (seen === 'ended') return true
    }
    return false
  }

  /** Advances time while a client waits. */
  async #patience(): Promise<'later'> {
    for (let step = 0; step < 20; step++) await this.clock.advance(10)
    return 'later'
  }

  /** What a client does: creates the run until it exists, approves what waits, checks whether it has ended. */
  async #poke(world: World): Promise<'ended' | 'later'> {
    if (this.run === '') this.run = await this.#create(world)
    const { status } = await runOf(world, this.run)
    const actions = await this.storage.records.list({ name: 'actions', filters: ['status'] }, anything, {
      where: { status: 'pending_approval' },
      limit: 10,
    })
    for (const { id } of actions) {
      void world.useCases['actions.approve'](callOf({ action_id: id }, {}, {})).catch(() => {})
    }
    return status === 'completed' ? 'ended' : 'later'
  }

  async #create(world: World): Promise<string> {
    const call = keyed(callOf({ agent_id: 'agt_1' }, {}, { input: { prompt: 'go' }, tenant_id: 'ten_1' }), 'k')
    const seeded = { ...call, idempotency: { cause: 'k', fingerprint: 'k', seed: '01kb0000000000000000000001' } }
    return (await world.useCases['runs.create'](seeded)).id
  }

  async #ticking(opening: Promise<World>): Promise<World> {
    let open = false
    void opening.then(() => {
      open = true
    })
    while (!open) await this.clock.advance(100)
    return opening
  }
}

const { scope: anything } = callOf({}, {}, undefined)

const logOf = async (outside: Outside, actor: string): Promise<readonly LogEvent[]> =>
  outside.storage.commits.events(actor, 0, 1000)

/** What holds however often processes died. */
const check = async (outside: Outside): Promise<void> => {
  const parent = await logOf(outside, outside.run)
  const started = parent.filter(({ event_type }) => event_type === 'run.delegated')
  expect(started).toHaveLength(1)
  const child = await logOf(outside, String(started[0]?.payload.child_run_id))
  for (const log of [parent, child]) {
    expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1))
    expect(typesOf(log).filter((type) => type === 'run.completed')).toHaveLength(1)
    expect(log.at(-1)?.event_type).toBe('run.completed')
  }
  expect(parent.at(-1)?.payload).toMatchObject({ output: { text: expect.stringMatching(/^It says: It says: /) } })
  expect(outside.orders.length).toBeLessThanOrEqual(1)
  const queue = await outside.world?.host.load(queueIdOf('prj_a'))
  expect(contextOf(runQueueDefinition, { context: queue?.state.snapshot.context ?? {} }).holders).toEqual({})
}

const lived = async (...faults: readonly (Fault | undefined)[]): Promise<Outside> => {
  const outside = new Outside()
  let world = await outside.open(...faults)
  for (let process = 1; !(await outside.live(world)) && process < 4; process++) world = await outside.open()
  await outside.clock.advance(2000)
  return outside
}

const commits = async (): Promise<number> => (await lived()).faulty.appended.length

describe('a process that dies at any commit of a run that delegates', () => {
  it.each(['crash_before', 'crash_after', 'answer_lost'] as const)(
    '(%s) leaves a run that completes once, with its tool called at most once and every slot released',
    { timeout: 240_000 },
    async (fault) => {
      const places = await commits()
      expect(places).toBeGreaterThan(15)
      for (let place = 0; place < places; place++) {
        const outside = await lived(...Array.from<undefined>({ length: place }), fault)
        await check(outside)
      }
    },
  )
})
