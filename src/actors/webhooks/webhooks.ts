import { deliveryDefinition } from '#machines/webhook-delivery/webhook-delivery-definition.ts'
import { webhookDeliveries, webhooks as webhookOperations, webhookTests } from '#specs/resources/webhooks.ts'
import { capability } from '../capability/capability.ts'
import { webhookSink } from '../runtime/internal.ts'
import { deliveryUseCases } from './delivery-use-cases.ts'
import { deliveryRows, webhookKinds } from './kinds.ts'
import { webhookNotices } from './notify.ts'
import { deliveryEffects, openEndpoints } from './open-webhooks.ts'
import { receiverSources } from './receivers.ts'
import { notifyWebhooks } from './webhook-deliveries.ts'
import { webhookUseCases } from './webhook-use-cases.ts'

/** Capability `webhooks`: endpoints that receive a project's events, and the deliveries to them. */
export const webhooks = capability({
  name: 'webhooks',
  operations: { ...webhookOperations, ...webhookTests, ...webhookDeliveries },
  kinds: webhookKinds,
  machines: [{ definition: deliveryDefinition, rows: deliveryRows }],
  open: (services) => {
    const endpoints = openEndpoints(services)
    const parts = { ...services, endpoints, sources: () => receiverSources.of(services) }
    return {
      useCases: { ...webhookUseCases(parts), ...deliveryUseCases(parts) },
      effects: deliveryEffects(parts),
      sinks: { [webhookSink]: webhookNotices(notifyWebhooks(parts)) },
    }
  },
})
