import { Decimal } from 'decimal.js'
import type { Row, TypedKind } from '#records/schema.ts'
import type { Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { type JsonObject, projectScope } from '#storage/index.ts'

/** An ephemeral secret: what its sessions begin with, and what they may cost. */
export type SecretData = {
  /** Id of a model or an agent; null: the session names it. */
  readonly model: string | null
  readonly installation_id: string | null
  /** Configuration that its sessions begin with. */
  readonly session: JsonObject
  /** USD as decimal text; null for no budget. */
  readonly budget_usd: string | null
  readonly spent_usd: string
}

/** Secrets for sessions of the Realtime API, removed when they have expired. */
export const realtimeSecrets: TypedKind<SecretData> = { name: 'realtime_secrets', exported: null }

/** Longest session in ms, which may outlive the secret that opened it. */
export const maxSessionMs = 60 * 60_000

/** Exact sums of prices. */
const Exact = Decimal.clone({ precision: 60 })

/** What sessions with a secret may cost, and have cost so far. Sessions on other nodes are seen after each response. */
export class SecretBudget {
  readonly #table: Table<SecretData>
  readonly #place: Pick<Row<SecretData>, 'id' | 'project'>
  readonly #budget: string | null
  #spent: string

  constructor(table: Table<SecretData>, { id, project, data }: Row<SecretData>) {
    this.#table = table
    this.#place = { id, project }
    this.#budget = data.budget_usd
    this.#spent = data.spent_usd
  }

  /** Whether there is a budget. */
  get isLimited(): boolean {
    return this.#budget !== null
  }

  /** @throws {ServiceError} `budget_exceeded` when nothing is left. */
  check(): void {
    if (this.#budget === null || new Exact(this.#spent).lessThan(this.#budget)) return
    throw new ServiceError('budget_exceeded', { message: 'The budget of the secret is spent.' })
  }

  /** Adds the cost of a response; null, an unknown one, does not count. A failing store loses it. */
  async spent(usd: string | null): Promise<void> {
    if (this.#budget === null || usd === null || usd === '0') return
    this.#spent = new Exact(this.#spent).plus(usd).toFixed()
    const { id, project } = this.#place
    const row = await this.#table
      .change(projectScope(project), id, {
        edit: (found) => ({ ...found.data, spent_usd: new Exact(found.data.spent_usd).plus(usd).toFixed() }),
      })
      .catch(() => null)
    if (row !== null) this.#spent = row.data.spent_usd
  }
}
