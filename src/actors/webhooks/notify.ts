import { isWebhookEventType, type WebhookEventType } from '#specs/events/webhook-events.ts'
import type { JsonObject } from '#storage/ports.ts'
import { isObject } from '../runtime/schema.ts'
import type { Sink } from '../runtime/sinks.ts'

/** One event that webhooks may want to hear of. */
export interface WebhookNotice {
  /** Always the same for the same event, however often it is sent: deliveries are made once for it. */
  readonly id: string
  readonly project: string
  /** The tenant whose event it is; null for the project's own. */
  readonly tenant: string | null
  /** External id of the user whose event it is: what is delivered is forgotten with the user; absent for events of no user. */
  readonly user?: string | null
  /** When it happened, in ms since the epoch. */
  readonly at: number
  readonly event_type: WebhookEventType
  /** As specs/events/webhook-events.ts declares it; a missing `tenant_id` is filled in. */
  readonly data: JsonObject
  /** Its deliveries may have been made before, and been removed with their owner since: they are not made anew. */
  readonly again?: boolean
}

/**
 * Starts one delivery for each active webhook of the project that wants the event; again with the same notice: none
 * more. @throws {StoreUnavailable} then call it again.
 */
export type Notify = (notice: WebhookNotice) => Promise<void>

/** Where the action `notify` of machines ends (src/machines/vocabulary.ts): a message to `webhookSink`. */
export const webhookNotices =
  (notify: Notify): Sink =>
  async ({ project, tenant, user }, { id, event }, again) => {
    const { event_type, data, at } = event
    if (typeof event_type !== 'string' || !isWebhookEventType(event_type) || typeof at !== 'number') return
    await notify({ id, project, tenant, user, at, event_type, data: isObject(data) ? data : {}, again })
  }
