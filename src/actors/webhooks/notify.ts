import { isWebhookEventType, type WebhookEventType } from '#specs/events/webhook-events.ts'
import type { JsonObject } from '#storage/index.ts'
import { isObject } from '../runtime/index.ts'
import type { Sink } from '../runtime/internal.ts'

/** An event that webhooks may subscribe to. */
export interface WebhookNotice {
  /** Identifies the event however often it is sent, so that its deliveries are created once. */
  readonly id: string
  readonly project: string
  /** Tenant of the event; null for events of the project itself. */
  readonly tenant: string | null
  /** External id of the user of the event; absent for events without a user. Deliveries are erased with the user. */
  readonly user?: string | null
  /** Time of the event, in ms since the epoch. */
  readonly at: number
  readonly event_type: WebhookEventType
  /** As declared in specs/events/webhook-events.ts; a missing `tenant_id` is filled in. */
  readonly data: JsonObject
  /**
   * Whether the deliveries may have been created before, and removed with their owner since; then they are not created
   * again.
   */
  readonly again?: boolean
}

/**
 * Creates one delivery for each active webhook of the project that subscribes to the event. Repeated with the same
 * notice, it creates no more.
 *
 * @throws {StoreUnavailable} then call it again.
 */
export type Notify = (notice: WebhookNotice) => Promise<void>

/** Sink `webhookSink`, which receives the messages of the machines' action `notify` (src/machines/vocabulary.ts). */
export const webhookNotices =
  (notify: Notify): Sink =>
  async ({ project, tenant, user }, { id, event }, again) => {
    const { event_type, data, at } = event
    if (typeof event_type !== 'string' || !isWebhookEventType(event_type) || typeof at !== 'number') return
    await notify({ id, project, tenant, user, at, event_type, data: isObject(data) ? data : {}, again })
  }
