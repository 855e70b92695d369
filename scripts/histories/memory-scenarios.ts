import { exchangeInput } from '#actors/memory/writes/exchange-input.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { memoryRetryDelaysMs, receiptRetentionMs } from '#machines/memory-write/memory-write.ts'
import { memoryWriteDefinition } from '#machines/memory-write/memory-write-definition.ts'
import { newId } from '#runtime/ids.ts'
import type { World } from '#test/actors/sessions/harness.ts'
import { calm, type VirtualClock } from '#test/support/virtual-clock.ts'
import type { Scenario } from './scenarios.ts'

/** Interval in ms at which the runtime checks reminders. */
const pollMs = 1000

const write = async ({ host, clock }: World, model?: string): Promise<string> => {
  const id = newId('mwr')
  const owner = { project: 'prj_a', tenant: null, user: 'ada', createdAt: clock.now() }
  const place = { scope: 'user', session: null, namespace: null } as const
  const said = { user: 'I live in Oslo.', assistant: 'Noted.', place, at: clock.now(), model }
  const input = { write_id: id, exchange: exchangeInput(said), source: 'remember' }
  await host.create({ kind: memoryWriteDefinition, id, owner, input, cause: newId('req') })
  await calm()
  return id
}

const unavailable = { fails: new ModelError('provider_unavailable', 'It is away.') }

/**
 * A write by rules, one whose model stays unavailable, one that is deleted while it waits, and one that the model
 * refuses.
 */
export const memoryScenarios: readonly Scenario[] = [
  {
    name: 'remembered',
    scripts: [],
    play: async (world, clock) => {
      await write(world)
      await clock.leap(receiptRetentionMs)
      await clock.advance(pollMs)
    },
  },
  {
    name: 'not remembered',
    scripts: [
      ...memoryRetryDelaysMs.map(() => unavailable),
      unavailable,
      unavailable,
      { fails: new ModelError('bad_request', 'No.') },
    ],
    play: async (world: World, clock: VirtualClock) => {
      await write(world, 'scripted-1')
      for (const delay of memoryRetryDelaysMs) await clock.advance(pollMs).then(() => clock.leap(delay))
      const removed = await write(world, 'scripted-1')
      await world.host.deliver(removed, { event: { type: 'delete' }, cause: newId('req') })
      await write(world, 'scripted-1')
    },
  },
]
