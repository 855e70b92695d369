import { describe, expect, it } from 'vitest'
import { noAgent } from '#actors/sessions/turns/turn-plan.ts'
import { ScriptedMemory } from '#test/support/scripted-memory.ts'
import { openRuns, startRun, untilEnd } from './run-world.ts'

const remembering = { agt_1: { config: { ...noAgent, memory: { namespace: 'work' } } } }

const ran = async (more: Parameters<typeof startRun>[2]) => {
  const memory = new ScriptedMemory()
  memory.known = ['The user lives in Oslo.']
  const world = await openRuns(remembering, { memory, scripts: [{ text: ['Done.'] }] })
  const events = await untilEnd(world, await startRun(world, 'agt_1', more))
  return { memory, world, events }
}

describe('the memory of a run', () => {
  it('is read and written for its end user in the namespace of its agent', async () => {
    const { memory, world } = await ran({ external_user_id: 'ada' })
    expect(world.provider.requests[0]?.instructions).toEqual([expect.stringContaining('lives in Oslo')])
    expect(memory.recalls).toMatchObject([{ at: { user: 'ada', namespace: 'work' } }])
    await expect
      .poll(() => memory.sent)
      .toMatchObject([{ user: 'ada', input: { exchange: { assistant: 'Done.' }, source: 'run' } }])
  })

  it('is not used for a run without an end user', async () => {
    const { memory, events } = await ran({})
    expect([events.at(-1)?.event_type, memory.recalls, memory.sent]).toEqual(['run.completed', [], []])
  })
})
