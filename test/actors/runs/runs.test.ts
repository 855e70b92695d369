import { describe, expect, it } from 'vitest'
import { newId } from '../../../src/actors/ids.ts'
import { callOf, typesOf } from '../sessions/harness.ts'
import { openRuns, runOf, startRun, untilEnd } from './run-world.ts'

describe('a run without tools', () => {
  it('goes from the queue through one model call to its output', async () => {
    const world = await openRuns({}, { scripts: [{ text: ['Hel', 'lo'] }] })
    const created = await world.useCases['runs.create'](
      callOf({ agent_id: 'agt_1' }, {}, { input: { prompt: 'hi', city: 'Bern' } }),
    )
    expect(created).toMatchObject({ agent_id: 'agt_1', status: 'queued', output: null, started_at: null })
    const events = await untilEnd(world, created.id)
    expect(typesOf(events)).toEqual([
      'run.queued',
      'run.started',
      'run.model_call.started',
      'run.model_call.completed',
      'run.completed',
    ])
    const run = await runOf(world, created.id)
    expect(run).toMatchObject({
      status: 'completed',
      input: { prompt: 'hi', city: 'Bern' },
      output: { text: 'Hello' },
      usage: { total_tokens: 15, cost_usd: '0.0001' },
      error: null,
    })
    expect(run.started_at).not.toBeNull()
    expect(run.finished_at).not.toBeNull()
    expect(world.provider.asked[0]?.messages).toEqual([{ role: 'user', content: 'hi\n\n{\n  "city": "Bern"\n}' }])
  })
})
