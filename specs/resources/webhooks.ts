import { secretKeyOnly, secretKeyOrDashboard } from '../access.ts'
import { answersJson } from '../answer.ts'
import { defineOperations } from '../declare.ts'
import { cursorPage, cursorQuery } from '../lists.ts'
import { defineResource } from '../resource.ts'
import {
  array,
  boolean,
  defaulted,
  described,
  id,
  integer,
  json,
  jsonObject,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '../schema.ts'
import { webhookEventTypes, webhookPayload } from '../webhook-events.ts'

const shownSecret = { secret: string() }
const eventType = oneOf('*', ...webhookEventTypes)

/** Endpoints that are told of a project's events (interface "Webhooks"; interface-additions "webhooks"). */
export const webhooks = defineResource('webhooks', {
  path: '/v1/webhooks',
  key: 'webhook_id',
  idPrefix: 'whk',
  title: 'Webhook',
  fields: {
    name: string({ minLength: 1, maxLength: 256 }),
    url: string({ maxLength: 2048, pattern: '^https?://' }),
    events: described(array(eventType, { minItems: 1, maxItems: 100 }), 'Which events it is told of; `*` for all.'),
    is_active: defaulted(boolean(), true),
    disabled_reason: nullable(
      described(
        oneOf('failing', 'gone'),
        'Why the server set is_active to false: failing for 5 days, or answered 410.',
      ),
    ),
    failing_since: nullable(timestamp()),
    previous_secret_expires_at: nullable(timestamp()),
  },
  writable: ['name', 'url', 'events', 'is_active'],
  access: secretKeyOnly,
  operations: {
    list: { access: secretKeyOrDashboard('member') },
    create: { access: secretKeyOrDashboard('admin'), shows: shownSecret },
    get: {},
    update: {},
    delete: {},
  },
  transitions: {
    rotate: {
      summary: 'Replace the secret; for grace_s seconds requests carry signatures of both',
      body: object({ grace_s: defaulted(integer({ min: 0, max: 604_800 }), 86_400) }),
      shows: shownSecret,
    },
  },
})

const deliveryFields = {
  id: id('dlv'),
  webhook_id: id('whk'),
  event_id: described(id('evt'), 'The header webhook-id: the same in every delivery and replay of one event.'),
  event_type: string(),
  tenant_id: nullable(string()),
  status: oneOf('pending', 'delivered', 'failed'),
  attempt_count: integer(),
  last_status_code: nullable(integer()),
  last_error: nullable(string()),
  next_attempt_at: nullable(timestamp()),
  replay_of: nullable(id('dlv')),
  created_at: timestamp(),
  updated_at: timestamp(),
}

const delivery = object(deliveryFields, { title: 'WebhookDelivery' })

const attempt = object(
  {
    attempt: integer(),
    at: timestamp(),
    duration_ms: integer(),
    url: string(),
    status_code: nullable(integer()),
    error: nullable(string()),
    request_headers: jsonObject(),
    /** null when no answer came. */
    response_headers: nullable(jsonObject()),
    /** At most 2048 bytes, without what looks like a secret. */
    response_body: nullable(json()),
  },
  { title: 'WebhookAttempt' },
)

const deliveryWithLog = object(
  { ...deliveryFields, payload: webhookPayload, attempts: array(attempt) },
  { title: 'WebhookDeliveryWithLog' },
)

const one = '/v1/webhook-deliveries/{delivery_id}'

/** The log of what was sent to webhooks; kept for 30 days (interface "Webhooks"). */
export const webhookDeliveries = defineOperations('webhook_deliveries', {
  list: {
    summary: 'List: WebhookDelivery, newest first',
    method: 'GET',
    path: '/v1/webhook-deliveries',
    access: secretKeyOnly,
    query: {
      ...cursorQuery,
      webhook_id: optional(string({ maxLength: 128 })),
      status: optional(oneOf('pending', 'delivered', 'failed')),
      event_type: optional(oneOf(...webhookEventTypes)),
    },
    answer: answersJson(cursorPage(delivery)),
  },
  get: {
    summary: 'Read: WebhookDelivery with its payload and every attempt',
    method: 'GET',
    path: one,
    access: secretKeyOnly,
    answer: answersJson(deliveryWithLog),
  },
  replay: {
    summary: 'Send an event once more: a new delivery with the same webhook-id',
    method: 'POST',
    path: `${one}/replay`,
    access: secretKeyOrDashboard('admin'),
    answer: answersJson(delivery, { status: 201 }),
    errors: ['invalid_transition'],
  },
})

/** Tries an endpoint out; works for one that is switched off, too. */
export const webhookTests = defineOperations('webhooks', {
  test: {
    summary: 'Send the event webhook.test to a webhook',
    method: 'POST',
    path: '/v1/webhooks/{webhook_id}/test',
    access: secretKeyOrDashboard('admin'),
    answer: answersJson(delivery, { status: 201 }),
  },
})
