import { type AnyMachineSnapshot, initialTransition } from 'xstate'
import type { MachineDefinition } from '#machines/definition.ts'
import { runQueueDefinition } from '#machines/run-queue/run-queue-definition.ts'
import type { JsonObject, StoredEvent } from '#storage/ports.ts'
import { after, pathOf } from '../outcome.ts'
import type { Walk } from '../reached.ts'

export const { machine }: MachineDefinition = runQueueDefinition
export const fresh = (): AnyMachineSnapshot => initialTransition(machine, { queue_id: 'rqu_1' })[0]
export const queue = (...events: readonly StoredEvent[]): AnyMachineSnapshot => after(machine, fresh(), ...events)

export const wake = (lane = 'lan_1'): StoredEvent => ({ type: 'wake', lane })
export const returned = (run_id: string, lane = 'lan_1'): StoredEvent => ({ type: 'slot_returned', run_id, lane })
export const picked = (runs: readonly string[], more: JsonObject = {}): StoredEvent => ({
  type: 'runs_picked',
  granted: runs.map((run_id) => ({ run_id, lane: 'lan_1' })),
  gone: [],
  cursor: 'lan_1',
  capped: [],
  full: false,
  checked_at: 1,
  ...more,
})
export const upkeep: StoredEvent = { type: 'xstate.after.upkeep.run_queue.idle' }
export const upkeepOfFull: StoredEvent = { type: 'xstate.after.upkeep.run_queue.full' }

/** Every event in every state of a queue of at most two runs. */
export const walk: Walk = {
  machine,
  input: { queue_id: 'rqu_1' },
  events: [
    wake(),
    wake('lan_2'),
    returned('run_1'),
    returned('run_9'),
    picked(['run_1']),
    picked([]),
    picked([], { full: true }),
    picked([], { capped: ['lan_1'] }),
    upkeep,
    upkeepOfFull,
  ],
  stored: [{ value: 'idle', context: { ...fresh().context } }],
  kindOf: ({ value, context }) => {
    const { holders, capped, stale } = context
    return `${pathOf(value)} ${Math.min(2, (holders.lan_1 ?? []).length)} ${capped.length} ${stale}`
  },
}
