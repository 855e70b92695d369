import type { DeliveryContext } from '#machines/webhook-delivery/webhook-delivery.ts'
import type { WebhookEventType } from '#specs/events/webhook-events.ts'
import type { Status } from '#specs/statuses.ts'
import type { AnyKind, TypedKind } from '../records/schema.ts'
import type { SealedSecrets } from '../records/sealing/rotated-secrets.ts'
import { newSigningSecret } from '../records/secrets.ts'
import type { AttemptOutcome } from './send-attempt.ts'

/** Why the server disabled a webhook: it failed for days, or responded with 410 Gone. */
type DisabledReason = 'failing' | 'gone'

export type WebhookData = {
  readonly name: string
  readonly url: string
  /** Names of event types, or `*` for all. */
  readonly events: readonly (WebhookEventType | '*')[]
  readonly is_active: boolean
  readonly disabled_reason: DisabledReason | null
  /** Time since which every attempt has failed; null while attempts succeed. */
  readonly failing_since_ms: number | null
  /** The first of these failures; absent in rows of earlier releases. */
  readonly failing_by?: Pick<AttemptOutcome, 'error' | 'status'>
  /** Sealed (`webhookSecretAad`). */
  readonly secret: string
  /** Secrets of before, sealed together (`SealedSecrets`). */
  readonly previous_secret: string | null
  readonly previous_until_ms: number | null
  /** Cause of the last rotation, whose repetition replaces a secret that no one was shown; absent without a key. */
  readonly rotated_by?: string | null
}

/** Endpoints that receive a project's events. They have no tenant. */
export const webhooks: TypedKind<WebhookData> = {
  name: 'webhooks',
  filters: ['is_active'],
  outbox: true,
  sealed: ['secret', 'previous_secret'].map((field) => ({
    field,
    aad: (row) => webhookSecretAad(row),
    // it signs requests, and is not sent itself
    sentTo: null,
    instead: (box, row) => box.seal(newSigningSecret(), webhookSecretAad(row)),
    loss: 'the secret that signs requests to a webhook: it gets a new one, which a rotation shows',
  })),
}

/** Data of a delivery's list row (`deliveryDefinition.row`). */
export type DeliveryRow = Omit<DeliveryContext, 'delivery_id' | 'body' | 'delay_ms'> & {
  readonly status: Status<'delivery'>
  readonly next_attempt_at_ms: number | null
}

/** List rows of deliveries. */
export const deliveryRows: TypedKind<DeliveryRow> = {
  name: 'webhook_deliveries',
  filters: [
    ...['webhook_id', 'status', 'event_type'],
    ...['webhook_status', 'webhook_event', 'status_event', 'webhook_status_event'],
  ],
}

/** All kinds of this folder, for `RecordStore.prepare`. */
export const webhookKinds: readonly AnyKind[] = [webhooks, deliveryRows]

/** The secrets of a webhook. */
export const secretsOf = ({ secret, previous_secret, previous_until_ms }: WebhookData): SealedSecrets => ({
  ...{ secret, previous: previous_secret, untilMs: previous_until_ms },
})

/** Additional authenticated data with which the secrets of a webhook are sealed. */
export const webhookSecretAad = ({ project, id }: { readonly project: string; readonly id: string }): string =>
  `${project}|webhooks|${id}|secret`
