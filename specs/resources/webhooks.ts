import { secretKeyOrConsole, secretKeyOrDashboard } from '../access.ts'
import { isJsonResponse } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { cursorPage, cursorQuery } from '../dsl/lists.ts'
import { defineResource } from '../dsl/resource.ts'
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
  union,
} from '../dsl/schema.ts'
import { a2aTask } from '../events/a2a-events.ts'
import { webhookEventTypes, webhookPayload } from '../events/webhook-events.ts'
import { reason } from '../reason.ts'
import { statuses } from '../statuses.ts'

/** Maximum number of webhooks of a project: each event makes a delivery for each of them. */
export const maxWebhooks = 100

const shownSecret = { secret: string({ description: 'Signing secret, shown once.' }) }
const eventType = oneOf('*', ...webhookEventTypes)

/** Webhooks: endpoints that receive a project's events. */
export const webhooks = defineResource('webhooks', {
  path: '/v1/webhooks',
  key: 'webhook_id',
  idPrefix: 'whk',
  title: 'Webhook',
  description: "An endpoint that receives a project's events, signed as Standard Webhooks specifies.",
  fields: {
    name: string({ minLength: 1, maxLength: 256 }),
    url: string({ maxLength: 2048, pattern: '^https?://' }),
    events: described(array(eventType, { minItems: 1, maxItems: 100 }), 'Event types to send; `*` for all.'),
    is_active: defaulted(boolean(), true),
    disabled_reason: nullable(
      described(
        oneOf('failing', 'gone'),
        'Reason for which the server deactivated the webhook: it failed for 5 days, or responded with 410.',
      ),
    ),
    failing_since: described(nullable(timestamp()), 'Time of the first failure since the last success.'),
    previous_secret_expires_at: described(
      nullable(timestamp()),
      'Time until which a previous secret is used as well; with several of them, the last one.',
    ),
  },
  writable: ['name', 'url', 'events', 'is_active'],
  access: secretKeyOrConsole,
  operations: {
    list: { access: secretKeyOrDashboard('member') },
    create: {
      access: secretKeyOrDashboard('admin'),
      description: `\`secret\` is returned only in this response. A project has at most ${maxWebhooks} webhooks.`,
      shows: shownSecret,
      errors: ['webhook_limit_reached'],
    },
    get: { description: 'Its secret is not returned: create or rotate it to get one.' },
    update: {
      description:
        'Changes the fields that the body contains. Deliveries that are pending use the new URL from their next attempt on.',
    },
    delete: { description: 'Pending deliveries of the webhook end as `failed`, with the reason `webhook_deleted`.' },
  },
  transitions: {
    rotate: {
      summary: 'Rotate the secret of a webhook',
      description:
        'Returns a new secret. Requests are also signed with the one that it replaces for `grace_s` seconds, and with those of earlier rotations for theirs: at most four, of which a further rotation drops the one that ends first.',
      body: object({
        grace_s: described(
          defaulted(integer({ min: 0, max: 604_800 }), 86_400),
          'Seconds for which requests are signed with the replaced secret as well.',
        ),
      }),
      shows: shownSecret,
    },
  },
})

const attemptErrors =
  '`url_refused` (the address is not public, and `ALLOWED_PRIVATE_HOSTS` does not list it), `unreachable`, `connection_lost` (the connection ended without a response; the endpoint may have the event), ' +
  '`timeout`, `redirect_refused` or `http_error` (a status other than 2xx)'

const deliveryFields = {
  id: id('dlv'),
  webhook_id: described(id('whk'), 'Id of the webhook, or of the address of a push notification config of A2A.'),
  event_id: described(id('evt'), 'Id of the event: the header `webhook-id`, the same in every delivery and replay.'),
  event_type: string(),
  tenant_id: nullable(string()),
  status: oneOf(...statuses.delivery),
  attempt_count: integer(),
  last_status_code: nullable(integer()),
  last_error: described(
    nullable(string()),
    `Reason of the last failure: ${attemptErrors}, \`webhook_deleted\` or \`webhook_disabled\`.`,
  ),
  next_attempt_at: described(
    nullable(timestamp()),
    'Time of the next attempt: after a failed attempt, or when too many deliveries wait for the webhook.',
  ),
  replay_of: nullable(id('dlv')),
  created_at: timestamp(),
  updated_at: timestamp(),
}

const delivery = object(deliveryFields, { title: 'WebhookDelivery', description: 'Delivery of an event to a webhook.' })

const attempt = object(
  {
    attempt: integer(),
    at: timestamp(),
    duration_ms: integer(),
    url: string(),
    status_code: nullable(integer()),
    error: described(nullable(string()), `Reason of the failure: ${attemptErrors}.`),
    request_headers: jsonObject(),
    response_headers: described(nullable(jsonObject()), 'Headers of the response; null without a response.'),
    response_body: described(nullable(json()), 'Body of the response: at most 2048 bytes, with secrets masked.'),
  },
  { title: 'WebhookAttempt', description: 'One request of a delivery.' },
)

const pushed = object({ task: a2aTask }, { title: 'A2aPushNotification', description: 'An update of a task of A2A.' })

const deliveryWithLog = object(
  { ...deliveryFields, payload: union([webhookPayload, pushed]), attempts: array(attempt) },
  { title: 'WebhookDeliveryWithLog', description: 'Delivery of an event, with its payload and attempts.' },
)

const one = '/v1/webhook-deliveries/{delivery_id}'

/** Deliveries to webhooks, which are kept for 30 days. */
export const webhookDeliveries = defineOperations('webhook_deliveries', {
  list: {
    summary: 'List webhook deliveries',
    description: 'Newest first. Deliveries are kept for 30 days. Events can be delivered in any order.',
    method: 'GET',
    path: '/v1/webhook-deliveries',
    access: secretKeyOrConsole,
    query: {
      ...cursorQuery,
      webhook_id: optional(string({ maxLength: 128 })),
      status: optional(oneOf(...statuses.delivery)),
      event_type: optional(oneOf(...webhookEventTypes)),
    },
    answer: isJsonResponse(cursorPage(delivery)),
  },
  get: {
    summary: 'Retrieve a webhook delivery',
    description: 'Returns the delivery with its payload and every attempt.',
    method: 'GET',
    path: one,
    access: secretKeyOrConsole,
    answer: isJsonResponse(deliveryWithLog),
  },
  replay: {
    summary: 'Replay a webhook delivery',
    description: 'Sends the event again as a new delivery with the same `webhook-id`.',
    method: 'POST',
    path: `${one}/replay`,
    access: secretKeyOrDashboard('admin'),
    body: object({ reason }),
    answer: isJsonResponse(delivery, { status: 201 }),
    errors: ['invalid_transition'],
  },
})

/** Test deliveries, also to inactive webhooks. */
export const webhookTests = defineOperations('webhooks', {
  test: {
    summary: 'Test a webhook',
    description: 'Sends the event `webhook.test`, even to an inactive webhook.',
    method: 'POST',
    path: '/v1/webhooks/{webhook_id}/test',
    access: secretKeyOrDashboard('admin'),
    answer: isJsonResponse(delivery, { status: 201 }),
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly webhooks: typeof webhooks
    readonly webhookDeliveries: typeof webhookDeliveries
    readonly webhookTests: typeof webhookTests
  }
}
