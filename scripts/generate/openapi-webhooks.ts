import { filledForm } from '#specs/dsl/ajv.ts'
import { constant, object, timestamp } from '#specs/dsl/schema.ts'
import { webhookEvents, webhookEventTypes } from '#specs/events/webhook-events.ts'
import type { Components } from './openapi-components.ts'
import { titleOf } from './title-of.ts'

/**
 * Requests that the server sends to a webhook, one per event type, as callbacks of the operation that registers it. The
 * `webhooks` of OpenAPI 3.1 would say the same, but openapi-generator writes code for them that does not compile
 * (specs/decisions/0107-documents-for-generators.md).
 */
export const webhookCallbacks = (components: Components): object =>
  Object.fromEntries(
    webhookEventTypes.map((type) => {
      const { says, data } = webhookEvents[type]
      const payload = object({ type: constant(type), timestamp: timestamp(), data })
      const schema = components.answer(filledForm(payload.json), `${titleOf(type)}Event`)
      // the signature is not a scheme that OpenAPI knows: it is in the headers
      const post = { operationId: `webhook.${type}`, summary: says, security: [], ...request(schema), responses }
      return [type, { '{$request.body#/url}': { post } }]
    }),
  )

const header = (name: string, description: string): object => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
})

/** Headers of Standard Webhooks (`webhooks.create`). */
const parameters = [
  header('webhook-id', 'Id of the event, the same in every attempt, delivery and replay.'),
  header('webhook-timestamp', 'Time of the attempt, in seconds since the Unix epoch.'),
  header(
    'webhook-signature',
    'Signatures `v1,<base64>`, separated by spaces. There are two while a secret is being rotated.',
  ),
]

const request = (schema: unknown): object => ({
  parameters,
  requestBody: { required: true, content: { 'application/json': { schema } } },
})

const responses = {
  '2XX': { description: 'The event is delivered if the response arrives within 15 seconds.' },
  '410': { description: 'The endpoint is gone. The webhook is deactivated.' },
  default: { description: 'The attempt failed. It is retried after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h.' },
}
