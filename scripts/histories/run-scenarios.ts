import { runRows } from '#actors/runs/kinds.ts'
import { noAgent } from '#actors/sessions/turns/turn-plan.ts'
import { projectScope } from '#storage/scope.ts'
import { cancelRun, startRun } from '#test/actors/runs/run-world.ts'
import { calls, functionTool, httpTool } from '#test/actors/sessions/approving.ts'
import { agentConfigOf, callOf, type Script, type World } from '#test/actors/sessions/harness.ts'
import type { VirtualClock } from '#test/support/virtual-clock.ts'
import type { Scenario } from './scenarios.ts'

/** Time in ms in which everything that does not have to wait has happened. */
const restMs = 1000
const minuteMs = 60_000

const tools = [functionTool('ask'), httpTool('post'), httpTool('guarded', { needsApproval: true })]

/** `agt_1` has tools and delegates to `agt_2`, which has neither. */
const agents: Scenario['agents'] = async ({ agentId }) =>
  agentConfigOf(
    agentId,
    agentId === 'agt_1'
      ? {
          config: { ...noAgent, tools },
          source: { limits: { max_duration_s: 3600 } },
          subagents: [{ agent_id: 'agt_2', version: null, description: null }],
        }
      : {},
  )

const delegates: Script = { calls: [{ name: 'delegate_to_agt_2', arguments: '{"task":"dig"}' }] }
const never = new Promise<void>(() => {})

const waiting = async (world: World): Promise<readonly string[]> => {
  const where = { status: 'pending_approval' }
  const kind = { name: 'actions', filters: ['status'] }
  const rows = await world.storage.records.list(kind, projectScope('prj_a'), { where, limit: 10, ascending: true })
  return rows.map(({ id }) => id)
}

const decide = async (world: World, clock: VirtualClock, decision: 'approve' | 'reject'): Promise<void> => {
  for (const action_id of await waiting(world)) {
    const body = decision === 'approve' ? { tool_results: [{ action_id, output: '42' }] } : {}
    const decided = world.useCases[`actions.${decision}`](callOf({ action_id }, {}, body))
    await clock.advance(restMs)
    await decided
  }
}

const remove = async (world: World, clock: VirtualClock, actor: string): Promise<void> => {
  await world.host.deliver(actor, { event: { type: 'delete' }, cause: 'erase' })
  await clock.advance(restMs)
}

/** Together, these reach every state of runs, of their queue, and of what they wait for. */
export const runScenarios: readonly Scenario[] = [
  {
    name: 'run-tools',
    agents,
    scripts: [calls('post', 'ask', 'guarded', 'made_up'), calls('ask'), { text: ['Done.'] }],
    play: async (world, clock) => {
      await startRun(world, 'agt_1')
      await clock.advance(restMs)
      await decide(world, clock, 'approve')
      await decide(world, clock, 'reject')
    },
  },
  {
    name: 'run-delegates',
    agents,
    concurrency: { perProject: 1, perTenant: 1 },
    scripts: [delegates, { text: ['Dug.'] }, { text: ['Done.'] }, { text: ['Another.'] }],
    play: async (world, clock) => {
      await startRun(world, 'agt_1', { tenant_id: 'ten_1' })
      await startRun(world, 'agt_2', { tenant_id: 'ten_1' })
      await clock.advance(4 * restMs)
    },
  },
  {
    name: 'run-ends',
    agents,
    scripts: [{ text: ['Half', never] }, calls('ask'), calls('made_up'), { text: ['Half', never] }],
    play: async (world, clock) => {
      const cancelled = await startRun(world, 'agt_1')
      await clock.advance(restMs)
      await cancelRun(world, cancelled)
      const expired = await startRun(world, 'agt_1', { expires_in: 60 })
      await clock.advance(restMs)
      const late = await startRun(world, 'agt_1')
      await clock.advance(61 * minuteMs)
      if ((await world.storage.records.get(runRows, projectScope('prj_a'), expired)) === null) throw new Error('no row')
      await remove(world, clock, late)
    },
  },
  {
    name: 'run-deleted',
    agents,
    concurrency: { perProject: 1, perTenant: 1 },
    scripts: [calls('ask')],
    play: async (world, clock) => {
      const run = await startRun(world, 'agt_1')
      await clock.advance(restMs)
      const [action = ''] = await waiting(world)
      await remove(world, clock, action)
      await remove(world, clock, run)
    },
  },
]
