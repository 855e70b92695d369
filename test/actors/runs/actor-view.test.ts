import { expect, it, vi } from 'vitest'
import { definitions } from '#actors/capabilities.ts'
import { actorViewUseCases } from '#actors/operators/actor-use-cases.ts'
import { functionTool } from '../sessions/approving.ts'
import { callOf } from '../sessions/harness.ts'
import { AnsweringModel, openRuns, startRun, until, withTools } from './run-world.ts'

// many steps of many actors: slow on a busy machine
vi.setConfig({ testTimeout: 60_000 })

it('shows a run with its related actors: its child runs, their actions, and its parent run', async () => {
  const model = new AnsweringModel(({ tools }) => {
    const [tool] = tools
    return { toolCalls: [{ callId: 'c', name: tool?.name ?? '', arguments: '{"task":"ask"}' }] }
  })
  const subagents = [{ agent_id: 'agt_2', version: null, description: null }]
  const world = await openRuns({ agt_1: { subagents }, agt_2: withTools(functionTool('confirm')) }, { model })
  const nodes = { runnerOf: async () => null }
  const views = actorViewUseCases({
    definitions,
    host: world.host,
    records: world.storage.records,
    storage: world.storage,
    nodes,
  })
  const relatedTo = async (actor_id: string) => {
    const { related } = await views['project_actors.get'](callOf({ project_id: 'prj_a', actor_id }, {}, undefined))
    return related.map(({ id, machine, state }) => ({ id, machine, state }))
  }
  const parent = await startRun(world, 'agt_1')
  const delegated = (await until(world, parent, 'run.delegated')).at(-1)?.payload
  const child = String(delegated?.child_run_id)
  const action = String((await until(world, child, 'run.requires_action')).at(-1)?.payload.action_id)
  const childRow = { id: child, machine: 'run', state: 'open.started.requires_action' }
  expect(await relatedTo(parent)).toEqual([childRow])
  expect(await relatedTo(child)).toEqual([
    { id: parent, machine: 'run', state: 'open.started.running.waiting' },
    { id: action, machine: 'action', state: 'pending_approval' },
  ])
  expect(await relatedTo(action)).toEqual([childRow])
})
