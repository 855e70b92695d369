import { webhookHeaders } from '#outgoing/webhook-signature.ts'
import type { WebhookEventType } from '#specs/events/webhook-events.ts'
import { projectScope } from '#storage/index.ts'
import type { Services } from '../capability/services.ts'
import { RecheckCache } from '../records/caches/recheck-cache.ts'
import type { Row } from '../records/schema.ts'
import { signingSecrets } from '../records/sealing/rotated-secrets.ts'
import type { SecretBox } from '../records/secret-box.ts'
import { Table } from '../records/table.ts'
import { secretsOf, type WebhookData, webhookSecretAad, webhooks } from './kinds.ts'
import type { Receiver, SentMessage } from './receivers.ts'
import type { AttemptOutcome } from './send-attempt.ts'

/** Maximum age of cached webhooks, in ms: changes made on other nodes are seen within this time. */
const recheckMs = 1000
const maxCached = 10_000

/** A webhook whose attempts have all failed for this long is disabled, in ms: 5 days. */
export const failingMs = 5 * 24 * 60 * 60 * 1000

export type EndpointParts = Pick<Services, 'box' | 'now' | 'records'>

/**
 * A project's webhooks for deliveries: which of them subscribe to an event, their secrets, and their record of
 * failures.
 */
export class WebhookEndpoints {
  readonly #table: Table<WebhookData>
  readonly #box: SecretBox
  readonly #now: () => number
  readonly #active: RecheckCache<readonly Row<WebhookData>[]>

  constructor({ records, box, now }: EndpointParts) {
    this.#table = new Table(records, webhooks, now)
    this.#box = box
    this.#now = now
    this.#active = new RecheckCache({
      load: (project) => this.#loadActive(project),
      maxAgeMs: recheckMs,
      maxEntries: maxCached,
      now,
    })
  }

  /** Returns the active webhooks that subscribe to this event; cached for a second. @throws {StoreUnavailable} */
  async wanting(project: string, eventType: WebhookEventType): Promise<readonly Row<WebhookData>[]> {
    const active = this.#active.peek(project) ?? (await this.#active.load(project)) ?? []
    return active.filter(({ data }) => data.events.includes('*') || data.events.includes(eventType))
  }

  /** Returns a webhook; null when it was deleted. @throws {StoreUnavailable} */
  get(project: string, id: string): Promise<Row<WebhookData> | null> {
    return this.#table.get(projectScope(project), id)
  }

  /** Returns a webhook as the receiver of a delivery; null when it was deleted. @throws {StoreUnavailable} */
  async receiver(project: string, id: string): Promise<Receiver | null> {
    const row = await this.get(project, id)
    if (row === null) return null
    const { url, is_active } = row.data
    const headers = (message: SentMessage) => webhookHeaders(this.secretsOf(row), message)
    return { url, isActive: is_active, headers, noted: (outcome) => this.#noted(row, outcome) }
  }

  /**
   * Records how the endpoint responded, which decides whether it gets more deliveries. An address that the webhook has no
   * longer says nothing about the one that it has.
   */
  async #noted(row: Row<WebhookData>, { error, status }: AttemptOutcome): Promise<boolean> {
    if (error === null) await this.sound(row)
    else if (status === 410) return this.gone(row)
    else await this.failing(row, { error, status })
    return true
  }

  /** Returns the secrets that currently sign a request, the newest first. */
  secretsOf(row: Row<WebhookData>): readonly string[] {
    return signingSecrets(secretsOf(row.data), { box: this.#box, aad: webhookSecretAad(row), now: this.#now() })
  }

  /** Records a successful attempt. Writes only if the previous attempt had failed. */
  async sound(row: Row<WebhookData>): Promise<void> {
    if (row.data.failing_since_ms === null) return
    await this.#change(row, (data) => (data.failing_since_ms === null ? null : { ...data, failing_since_ms: null }))
  }

  /** Records a failed attempt. Writes at the first failure, and disables the webhook after `failingMs`. */
  async failing(row: Row<WebhookData>, { error, status }: Pick<AttemptOutcome, 'error' | 'status'>): Promise<void> {
    const since = row.data.failing_since_ms
    if (since !== null && this.#now() - since < failingMs) return
    await this.#change(row, (data) => {
      const now = this.#now()
      if (data.failing_since_ms === null) return { ...data, failing_since_ms: now, failing_by: { error, status } }
      return now - data.failing_since_ms < failingMs ? null : disabled(data, 'failing')
    })
  }

  /** Disables a webhook whose endpoint responded with 410 Gone. @returns whether it has another endpoint by now */
  async gone(row: Row<WebhookData>): Promise<boolean> {
    const now = await this.#change(row, (data) => disabled(data, 'gone'))
    return now !== null && now.data.url !== row.data.url
  }

  /** Drops the project's cached webhooks on this node: call it after a change of any of them. */
  forget(project: string): void {
    this.#active.forget(project)
  }

  /** Changes a webhook, unless its address was changed since. */
  async #change(
    { project, id, data: { url } }: Row<WebhookData>,
    edit: (data: WebhookData) => WebhookData | null,
  ): Promise<Row<WebhookData> | null> {
    const changed = await this.#table.change(projectScope(project), id, {
      edit: ({ data }) => (data.url === url ? edit(data) : null),
    })
    this.forget(project)
    return changed
  }

  #loadActive(project: string): Promise<readonly Row<WebhookData>[]> {
    return this.#table.every(projectScope(project), { where: { is_active: true } })
  }
}

const disabled = (data: WebhookData, reason: WebhookData['disabled_reason']): WebhookData | null =>
  data.is_active ? { ...data, is_active: false, disabled_reason: reason } : null
