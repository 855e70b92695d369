import { type AnyMachineSnapshot, initialTransition } from 'xstate'
import type { MachineDefinition } from '#machines/definition.ts'
import { deliveryDefinition } from '#machines/webhook-delivery/webhook-delivery-definition.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { after, pathOf } from '../outcome.ts'
import type { Walk } from '../reached.ts'

/** The machine as the runtime knows it. */
export const { machine }: MachineDefinition = deliveryDefinition

const input = {
  delivery_id: 'dlv_1',
  webhook_id: 'whk_1',
  event_id: 'evt_1',
  event_type: 'run.completed',
  body: '{}',
  replay_of: null,
}

export const fresh = (): AnyMachineSnapshot => initialTransition(machine, input)[0]

const attempt = { attempt: 1, at: '2026-01-01T00:00:00.000Z', url: 'https://example.com' }

export const succeeds: StoredEvent = { type: 'attempt_succeeded', attempt, status: 204, error: null }
export const fails: StoredEvent = {
  type: 'attempt_failed',
  attempt,
  status: 500,
  error: 'http_error',
  jitter: 0.5,
  final: false,
}
export const failsForGood: StoredEvent = { ...fails, status: 410, final: true }
export const undeliverable: StoredEvent = { type: 'undeliverable', reason: 'webhook_deleted' }
export const postponed: StoredEvent = { type: 'postponed', delay_ms: 7_000 }
export const deletion: StoredEvent = { type: 'delete' }
export const backoff: StoredEvent = { type: 'xstate.after.backoff.delivery.waiting' }
export const retained = (state: 'delivered' | 'failed'): StoredEvent => ({
  type: `xstate.after.retention.delivery.${state}`,
})

/** A delivery after these events. */
export const delivery = (...events: readonly StoredEvent[]): AnyMachineSnapshot => after(machine, fresh(), ...events)

/** Every event in every state of a delivery. */
export const walk: Walk = {
  machine,
  input,
  events: [
    succeeds,
    fails,
    failsForGood,
    undeliverable,
    postponed,
    deletion,
    backoff,
    retained('delivered'),
    retained('failed'),
  ],
  kindOf: ({ value, context }) => `${pathOf(value)} ${context.attempts}`,
}
