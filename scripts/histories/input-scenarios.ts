import { actionRows } from '#actors/sessions/kinds.ts'
import { noAgent } from '#actors/sessions/turns/turn-plan.ts'
import { newId } from '#runtime/ids.ts'
import { projectScope } from '#storage/scope.ts'
import { startRun } from '#test/actors/runs/run-world.ts'
import { calls, httpTool } from '#test/actors/sessions/approving.ts'
import { agentConfigOf, newSession, turn, type World } from '#test/actors/sessions/harness.ts'
import { calm } from '#test/support/virtual-clock.ts'
import type { Scenario } from './scenarios.ts'

const pollMs = 1000

const question = (round: number) => ({
  ...({ server: 'Notes', server_url: 'https://notes.example/mcp', mode: 'form', message: 'Which note?' } as const),
  ...{ schema: { type: 'object', properties: { which: { type: 'string' } }, required: [] }, url: null },
  ...{ secret_fields: [], round, resume: JSON.stringify({ round }) },
})

/** A tool whose server requests input twice, and which succeeds after the second answer. */
const runTool: Scenario['runTool'] = async ({ input }) => {
  const round = input === undefined ? 1 : Number(JSON.parse(input.resume).round) + 1
  if (round > 2) return { ok: true, output: JSON.stringify(input?.answer) }
  return { ok: false, code: 'input_required', message: 'Which note?', input: question(round) }
}

const decision = {
  by: 'key_a',
  at: '2026-01-01T00:00:00.000Z',
  audit: { by: { kind: 'secret_key', id: 'key_a' }, at: 0 },
}

/** Answers the pending request for input. */
const answer = async (world: World, round: number, event: object): Promise<void> => {
  const where = { status: 'awaiting_input' }
  const [waiting] = await world.storage.records.list(actionRows, projectScope('prj_a'), { where, limit: 10 })
  if (waiting === undefined) throw new Error('no action waits')
  const type = 'approve'
  await world.host.deliver(waiting.id, { event: { type, ...decision, round, ...event }, cause: newId('req') })
  await calm()
}

/** Scenarios in which a server requests input. */
export const inputScenarios: readonly Scenario[] = [
  {
    name: 'turn-waits-for-input',
    scripts: [calls('post'), { text: ['Done.'] }, calls('post')],
    runTool,
    play: async (world, clock) => {
      const session = await newSession(world)
      const go = { input: 'go', tools: [httpTool('post')], pause_on_tool_calls: false }
      await turn(world, session, go)
      await clock.advance(pollMs)
      await answer(world, 1, { content: '{"which":"a"}' })
      await clock.advance(pollMs)
      await answer(world, 2, { type: 'reject' })
      await clock.advance(pollMs)
      await turn(world, session, go)
      await clock.advance(pollMs)
      await world.host.deliver(session, { event: { type: 'cancel' }, cause: newId('req') })
      await clock.advance(pollMs)
    },
  },
  {
    name: 'run-waits-for-input',
    scripts: [calls('post'), { text: ['Done.'] }],
    runTool,
    agents: async ({ agentId }) => agentConfigOf(agentId, { config: { ...noAgent, tools: [httpTool('post')] } }),
    play: async (world, clock) => {
      await startRun(world, 'agt_1')
      await clock.advance(pollMs)
      await answer(world, 1, { content: '{"which":"a"}' })
      await clock.advance(pollMs)
      await answer(world, 2, { type: 'reject', response: 'cancel' })
      await clock.advance(pollMs)
    },
  },
]
