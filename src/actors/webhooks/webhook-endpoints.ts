import type { WebhookEventType } from '#specs/events/webhook-events.ts'
import { projectScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import { RecheckCache } from '../records/recheck-cache.ts'
import type { Row } from '../records/schema.ts'
import type { SecretBox } from '../records/secret-box.ts'
import { Table } from '../records/table.ts'
import { type WebhookData, webhookSecretAad, webhooks } from './kinds.ts'

/** A webhook as another node changed it is seen after this time at the latest, in ms. */
const recheckMs = 1000
const maxCached = 10_000
const pageSize = 100

/** A webhook whose attempts have all failed for so long gets nothing more, in ms: 5 days. */
export const failingMs = 5 * 24 * 60 * 60 * 1000

export interface EndpointParts {
  readonly records: RecordStore
  readonly box: SecretBox
  /** ms since the epoch. */
  readonly now: () => number
}

/** A project's webhooks as deliveries see them: which get events, how requests are signed, and how they fare. */
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

  /** The webhooks that want this event. Costs no read of the store within a second of the one before. @throws {StoreUnavailable} */
  async wanting(project: string, eventType: WebhookEventType): Promise<readonly Row<WebhookData>[]> {
    const active = this.#active.peek(project) ?? (await this.#active.load(project)) ?? []
    return active.filter(({ data }) => data.events.includes('*') || data.events.includes(eventType))
  }

  /** Null when it was deleted. @throws {StoreUnavailable} */
  get(project: string, id: string): Promise<Row<WebhookData> | null> {
    return this.#table.get(projectScope(project), id)
  }

  /** What signs a request now: the newest secret first, and the one before while its grace lasts. */
  secretsOf(row: Row<WebhookData>): readonly string[] {
    const { secret, previous_secret, previous_until_ms } = row.data
    const grace = previous_secret !== null && previous_until_ms !== null && this.#now() < previous_until_ms
    return [secret, ...(grace ? [previous_secret] : [])].map((each) => this.#box.open(each, webhookSecretAad(row)))
  }

  /** An attempt succeeded. Writes only when the one before had failed. */
  async sound(row: Row<WebhookData>): Promise<void> {
    if (row.data.failing_since_ms === null) return
    await this.#change(row, (data) => (data.failing_since_ms === null ? null : { ...data, failing_since_ms: null }))
  }

  /** An attempt failed. Writes at the first failure, and when it has been failing for `failingMs`. */
  async failing(row: Row<WebhookData>): Promise<void> {
    const since = row.data.failing_since_ms
    if (since !== null && this.#now() - since < failingMs) return
    await this.#change(row, (data) => {
      const now = this.#now()
      if (data.failing_since_ms === null) return { ...data, failing_since_ms: now }
      return now - data.failing_since_ms < failingMs ? null : disabled(data, 'failing')
    })
  }

  /** The endpoint answered that it is gone. */
  async gone(row: Row<WebhookData>): Promise<void> {
    await this.#change(row, (data) => disabled(data, 'gone'))
  }

  /** Makes this node read the store again: call it after a change of one of the project's webhooks. */
  forget(project: string): void {
    this.#active.forget(project)
  }

  async #change(row: Row<WebhookData>, edit: (data: WebhookData) => WebhookData | null): Promise<void> {
    await this.#table.change(projectScope(row.project), row.id, { edit: ({ data }) => edit(data) })
    this.forget(row.project)
  }

  async #loadActive(project: string): Promise<readonly Row<WebhookData>[]> {
    const scope = projectScope(project)
    const found: Row<WebhookData>[] = []
    for (;;) {
      const last = found.at(-1)
      const after = last === undefined ? {} : { after: last.id }
      const page = await this.#table.list(scope, { where: { is_active: true }, limit: pageSize, ...after })
      found.push(...page)
      if (page.length < pageSize) return found
    }
  }
}

const disabled = (data: WebhookData, reason: WebhookData['disabled_reason']): WebhookData | null =>
  data.is_active ? { ...data, is_active: false, disabled_reason: reason } : null
