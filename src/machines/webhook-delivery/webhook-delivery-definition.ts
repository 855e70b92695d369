import { statuses } from '#specs/statuses.ts'
import type { MachineDefinition, RowOf } from '../index.ts'
import { deliveryMachine } from './webhook-delivery.ts'

const deliveryRow: RowOf = (state, facts) => {
  const { body: _shownByItself, delay_ms, delivery_id: _id, ...context } = state.context
  const waits = state.value === 'waiting' && typeof delay_ms === 'number'
  return {
    ...context,
    ...deliveryKeys(String(context.webhook_id), facts.status, String(context.event_type)),
    status: facts.status,
    next_attempt_at_ms: waits ? facts.updatedAt + delay_ms : null,
  }
}

/** Combined keys for filters on several fields: one field per combination, since a list is read by a single index. */
export const deliveryKeys = (webhook: string, status: string, event: string) => ({
  webhook_status: `${webhook} ${status}`,
  webhook_event: `${webhook} ${event}`,
  status_event: `${status} ${event}`,
  webhook_status_event: `${webhook} ${status} ${event}`,
})

/** Webhook deliveries, as defined in `specs/resources/webhooks.ts`. */
export const deliveryDefinition = {
  name: 'delivery',
  version: 3,
  readableBy: 1,
  idPrefix: 'dlv',
  machine: deliveryMachine,
  effects: { attemptDelivery: 'idempotent', eraseDelivery: 'idempotent' },
  statuses: statuses.delivery,
  row: deliveryRow,
  // version 2 audits replays; version 3 can postpone attempts
  migrations: { 1: (state) => state, 2: (state) => state },
} satisfies MachineDefinition
