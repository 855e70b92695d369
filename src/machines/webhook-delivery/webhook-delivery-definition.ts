import type { MachineDefinition, RowOf, StoredState } from '../definition.ts'
import { deliveryMachine } from './webhook-delivery.ts'

/** A delivery's status in the API; null once it is being removed. */
export const deliveryStatus = ({ value }: Pick<StoredState, 'value'>): 'pending' | 'delivered' | 'failed' | null => {
  if (value === 'delivered' || value === 'failed') return value
  return value === 'erasing' ? null : 'pending'
}

const deliveryRow: RowOf = (state, facts) => {
  const status = deliveryStatus(state)
  if (status === null) return null
  const { body: _shownByItself, delay_ms, delivery_id: _id, ...context } = state.context
  const waits = state.value === 'waiting' && typeof delay_ms === 'number'
  return {
    ...context,
    ...deliveryKeys(String(context.webhook_id), status, String(context.event_type)),
    status,
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
  idPrefix: 'dlv',
  machine: deliveryMachine,
  effects: { attemptDelivery: 'idempotent', eraseDelivery: 'idempotent' },
  row: deliveryRow,
  gone: (state) => deliveryStatus(state) === null,
  busy: ({ value }) => value === 'attempting',
  // version 2 audits replays; version 3 can postpone attempts
  migrations: { 1: (state) => state, 2: (state) => state },
} satisfies MachineDefinition
