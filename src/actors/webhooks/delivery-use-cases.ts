import type { DeliveryInput } from '#machines/webhook-delivery/webhook-delivery.ts'
import { deliveryDefinition, deliveryKeys } from '#machines/webhook-delivery/webhook-delivery-definition.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import type { Scope, StoredLogEvent, StoredRecord } from '#storage/index.ts'
import { orNotFound } from '../call/not-found.ts'
import type { UseCases } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { actorOf, reasonOf } from '../records/audit-note.ts'
import { pageOf } from '../records/pages.ts'
import { rowTimes, timestampOrNull } from '../records/row-times.ts'
import { rowOf } from '../records/schema.ts'
import { Table } from '../records/table.ts'
import { contextOf, isObject } from '../runtime/index.ts'
import { newIdFor, rowRecord } from '../runtime/internal.ts'
import { deliveryRows } from './kinds.ts'
import { receiverOf } from './open-webhooks.ts'
import type { Receiver, ReceiverSource } from './receivers.ts'
import { type DeliveryOwner, eventOf, startDelivery } from './webhook-deliveries.ts'
import type { WebhookEndpoints } from './webhook-endpoints.ts'

export interface DeliveryParts extends Pick<Services, 'host' | 'now' | 'records'> {
  readonly endpoints: Pick<WebhookEndpoints, 'get' | 'receiver'>
  readonly sources?: () => readonly ReceiverSource[]
}

type DeliveryUseCases = Pick<UseCases, Extract<keyof UseCases, `webhook_deliveries.${string}`> | 'webhooks.test'>
type Delivery = ResultOf<'webhook_deliveries.list'>['data'][number]
type Attempt = ResultOf<'webhook_deliveries.get'>['attempts'][number]

const maxAttempts = 100

type Whose = Pick<DeliveryOwner, 'tenant' | 'user'>

/** Use-cases of deliveries: the log, replays and tests. */
export const deliveryUseCases = ({ host, records, endpoints, sources, now }: DeliveryParts): DeliveryUseCases => {
  const table = new Table(records, deliveryRows, now)
  const started = async (scope: Scope, { tenant, user }: Whose, input: DeliveryInput): Promise<Delivery> => {
    await startDelivery(host, { project: scope.project, tenant, user, createdAt: now() }, input)
    return deliveryView(rowRecord(await host.find(scope, deliveryDefinition, input.delivery_id)))
  }
  return {
    'webhook_deliveries.list': async ({ scope, query: { webhook_id, status, event_type, ...page } }) => {
      await host.rows.shown()
      const where = conditionOf(webhook_id, status, event_type)
      return pageOf(table, scope, { query: { ...page, where }, shown: { idPrefix: 'dlv', view: deliveryView } })
    },
    'webhook_deliveries.get': async ({ scope, params }) => {
      const delivery = await host.find(scope, deliveryDefinition, params.delivery_id)
      const log = await host.readPage(delivery, 0, maxAttempts)
      const payload = JSON.parse(contextOf(deliveryDefinition, delivery.state.snapshot).body)
      return { ...deliveryView(rowRecord(delivery)), payload, attempts: log.map(attemptView) }
    },
    'webhook_deliveries.replay': async (call) => {
      const prior = await host.find(call.scope, deliveryDefinition, call.params.delivery_id)
      const { webhook_id, event_id, event_type, body } = contextOf(deliveryDefinition, prior.state.snapshot)
      requireActive(await receiverOf({ endpoints, sources })(call.scope.project, webhook_id))
      const delivery_id = newIdFor(call, 'dlv')
      return started(call.scope, prior.owner, {
        delivery_id,
        webhook_id,
        event_id,
        event_type,
        body,
        replay_of: prior.id,
        requested: { by: actorOf(call), ...reasonOf(call.body) },
      })
    },
    'webhooks.test': async (call) => {
      const { scope, params } = call
      const webhook = orNotFound(await endpoints.get(scope.project, params.webhook_id))
      const delivery_id = newIdFor(call, 'dlv')
      const event = eventOf({
        id: delivery_id,
        project: scope.project,
        tenant: null,
        at: now(),
        event_type: 'webhook.test',
        data: { webhook_id: webhook.id, message: 'This is a test.' },
      })
      return started(
        scope,
        { tenant: null, user: null },
        { ...event, delivery_id, webhook_id: webhook.id, replay_of: null },
      )
    },
  }
}

/** Combines the filters of a list into one condition, which a single index answers. */
const conditionOf = (webhook?: string, status?: string, event?: string): Readonly<Record<string, string>> => {
  const keys = deliveryKeys(webhook ?? '', status ?? '', event ?? '')
  if (webhook === undefined) {
    if (status === undefined) return event === undefined ? {} : { event_type: event }
    return event === undefined ? { status } : { status_event: keys.status_event }
  }
  if (status === undefined) return event === undefined ? { webhook_id: webhook } : { webhook_event: keys.webhook_event }
  return event === undefined
    ? { webhook_status: keys.webhook_status }
    : { webhook_status_event: keys.webhook_status_event }
}

/**
 * @throws {ServiceError} `invalid_transition` when the webhook was deleted or is inactive, so that it would not get the
 * replay.
 */
const requireActive = (receiver: Receiver | null): void => {
  if (receiver?.isActive) return
  const state =
    receiver === null ? 'was deleted. Create another one' : 'is inactive. Activate it with webhooks.update first'
  throw new ServiceError('invalid_transition', { message: `The webhook ${state}.` })
}

const deliveryView = (record: StoredRecord): Delivery => {
  const row = rowOf(deliveryRows, record).data
  return {
    id: record.id,
    webhook_id: row.webhook_id,
    event_id: row.event_id,
    event_type: row.event_type,
    tenant_id: record.tenant,
    status: row.status,
    attempt_count: row.attempts,
    last_status_code: row.last_status,
    last_error: row.last_error,
    next_attempt_at: timestampOrNull(row.next_attempt_at_ms),
    replay_of: row.replay_of,
    ...rowTimes(record),
  }
}

const attemptView = ({ payload }: StoredLogEvent): Attempt => {
  const request = isObject(payload.request) ? payload.request : {}
  const response = isObject(payload.response) ? payload.response : null
  return {
    attempt: Number(payload.attempt),
    at: String(payload.at),
    duration_ms: Number(payload.duration_ms),
    url: String(payload.url),
    status_code: typeof payload.status === 'number' ? payload.status : null,
    error: typeof payload.error === 'string' ? payload.error : null,
    request_headers: isObject(request.headers) ? request.headers : {},
    response_headers: isObject(response?.headers) ? response.headers : null,
    response_body: response?.body ?? null,
  }
}
