import { batchDefinition } from '#machines/batch/batch-definition.ts'
import { newId } from '#runtime/ids.ts'
import type { World } from '#test/actors/sessions/harness.ts'
import { calm } from '#test/support/virtual-clock.ts'
import type { Scenario } from './scenarios.ts'

/** Interval in ms at which the runtime checks reminders. */
const pollMs = 1000
const windowMs = 60_000

const begin = async ({ host, clock }: World, input_file_id: string): Promise<string> => {
  const batch_id = newId('batch')
  const owner = { project: 'prj_a', tenant: null, user: null, createdAt: clock.now() }
  const request = { endpoint: '/v1/chat/completions', completion_window: '1m', window_ms: windowMs, metadata: {} }
  const caller = { tenant: null, agent_id: null, scope: { tenant: null, user: null } }
  const input = { batch_id, input_file_id, ...request, caller, created_at_ms: clock.now() }
  await host.create({ kind: batchDefinition, id: batch_id, owner, input, cause: newId('req') })
  await calm()
  return batch_id
}

/**
 * A batch that completes, one whose file is invalid, one that is cancelled, one that expires, and one that is deleted
 * while its lines run. The text of a file's request says how it is answered (`scriptedBatches`).
 */
export const batchScenarios: readonly Scenario[] = [
  {
    name: 'batches',
    scripts: [],
    play: async (world, clock) => {
      for (const file of ['answered', 'invalid']) await begin(world, file)
      await world.host.deliver(await begin(world, 'held'), { event: { type: 'delete' }, cause: newId('req') })
      const event = { type: 'cancel', at: clock.now() }
      await world.host.deliver(await begin(world, 'held'), { event, cause: newId('req') })
      await begin(world, 'held')
      await clock.leap(windowMs)
      await clock.advance(pollMs)
      await calm()
    },
  },
]
