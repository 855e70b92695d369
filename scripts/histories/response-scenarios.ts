import { responseRetentionMs } from '#machines/response/response.ts'
import { responseDefinition } from '#machines/response/response-definition.ts'
import { newId } from '#runtime/ids.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { World } from '#test/actors/sessions/harness.ts'
import { calm } from '#test/support/virtual-clock.ts'
import type { Scenario } from './scenarios.ts'

/** Interval in ms at which the runtime checks reminders. */
const pollMs = 1000

const respond = async ({ host, clock }: World, input: string): Promise<string> => {
  const id = newId('resp')
  const owner = { project: 'prj_a', tenant: null, user: null, createdAt: clock.now() }
  const items = [{ type: 'message', role: 'user', content: input }]
  await host.create({
    kind: responseDefinition,
    id,
    owner,
    input: {
      response_id: id,
      request: { model: 'scripted-1', input, background: true },
      caller: { tenant: null, agent_id: null },
      input: items,
      document: { id, object: 'response', status: 'queued', output: [], error: null },
    },
    cause: newId('req'),
  })
  await calm()
  return id
}

/** A response that completes, one that fails, one that is cancelled, and one that is deleted while it is generated. */
export const responseScenarios: readonly Scenario[] = [
  {
    name: 'responses',
    scripts: [],
    response: ({ document, request }, { signal, show }) => {
      show('["response.output_text.delta",{"delta":"Hello"}]\n')
      if (request.input === 'fail') throw new ServiceError('provider_error')
      if (request.input === 'hi') return Promise.resolve({ ...document, status: 'completed' })
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))))
    },
    play: async (world, clock) => {
      await respond(world, 'hi')
      await respond(world, 'fail')
      for (const type of ['cancel', 'delete']) {
        const id = await respond(world, 'wait')
        await world.host.deliver(id, { event: { type }, cause: newId('req') })
      }
      await clock.leap(responseRetentionMs)
      await clock.advance(pollMs)
    },
  },
]
