import { noAgent } from '#actors/sessions/turns/turn-plan.ts'
import { startRun } from '#test/actors/runs/run-world.ts'
import { approve, calls, httpTool, pausedTurn } from '#test/actors/sessions/approving.ts'
import { agentConfigOf, newSession } from '#test/actors/sessions/harness.ts'
import type { Scenario } from './scenarios.ts'

const pollMs = 1000

/** A tool whose server reports its progress twice. */
const runTool: Scenario['runTool'] = async ({ progress }) => {
  await progress?.({ progress: 1, total: 2, message: 'Half of it.' })
  await progress?.({ progress: 2, total: null, message: null })
  return { ok: true, output: 'done' }
}

const tools = [httpTool('post', { needsApproval: false }), httpTool('guarded', { needsApproval: true })]

/** Calls whose server reports progress, with and without an approval. */
export const progressScenarios: readonly Scenario[] = [
  {
    name: 'turn-with-progress',
    scripts: [calls('post', 'guarded'), { text: ['Done.'] }],
    runTool,
    play: async (world, clock) => {
      const session = await newSession(world)
      const { waiting } = await pausedTurn(world, session, { input: 'go', tools })
      await clock.advance(pollMs)
      await approve(world, session, waiting.guarded ?? '', [])
      await clock.advance(pollMs)
    },
  },
  {
    name: 'run-with-progress',
    scripts: [calls('post'), { text: ['Done.'] }],
    runTool,
    agents: async ({ agentId }) => agentConfigOf(agentId, { config: { ...noAgent, tools: [httpTool('post')] } }),
    play: async (world, clock) => {
      await startRun(world, 'agt_1')
      await clock.advance(pollMs)
    },
  },
]
