import type { UsageData } from '#gateway/ledger/usage-rows.ts'
import { type Amount, amountOf, textOf, zero } from '#gateway/prices/money.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { timestampOf } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'

/** Most groups of a response; with more, the request must be narrowed. */
const maxGroups = 20_000

/** Dimensions by which rows can be grouped: the field of the response, and its value in a row. */
export const groupings = {
  tenant: { field: 'tenant_id', of: (row: Row<UsageData>) => row.tenant },
  agent: { field: 'agent_id', of: ({ data }: Row<UsageData>) => data.agent_id },
  installation: { field: 'installation_id', of: ({ data }: Row<UsageData>) => data.installation_id },
  user: { field: 'external_user_id', of: ({ data }: Row<UsageData>) => data.external_user_id },
  provider: { field: 'provider', of: ({ data }: Row<UsageData>) => data.provider },
  model: { field: 'model', of: ({ data }: Row<UsageData>) => data.model },
  key: { field: 'key_id', of: ({ data }: Row<UsageData>) => data.key_id ?? null },
  operation: { field: 'operation', of: ({ data }: Row<UsageData>) => data.operation },
  rate_plan: { field: 'rate_plan_id', of: ({ data }: Row<UsageData>) => data.rate_plan_id },
  /** In UTC. */
  day: { field: 'day', of: ({ created_at }: Row<UsageData>) => timestampOf(created_at).slice(0, 10) },
} as const

/** Name of a grouping. */
export type Grouping = keyof typeof groupings

/** Sums of calls, as the API returns them. */
interface Sums {
  readonly calls: number
  readonly unpriced_calls: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
  /** Characters of text that was converted to speech. */
  readonly characters: number
  /** Duration of audio that was converted to text; to the millisecond. */
  readonly seconds: number
  readonly images: number
  readonly cache_hits: number
  readonly saved_usd: string
  readonly provider_cost_usd: string
  readonly service_charge_usd: string
}

/** Exact sums of the calls of one group. */
class UsageSums {
  #calls = 0
  #unpriced = 0
  #inputTokens = 0
  #outputTokens = 0
  #characters = 0
  /** In whole milliseconds, so that sums are exact. */
  #milliseconds = 0
  #images = 0
  #cacheHits = 0
  #saved: Amount = zero
  #providerCost: Amount = zero
  #serviceCharge: Amount = zero

  add({ data }: Row<UsageData>): void {
    this.#calls++
    this.#inputTokens += data.input_tokens
    this.#outputTokens += data.output_tokens
    this.#characters += data.characters ?? 0
    this.#milliseconds += Math.round((data.seconds ?? 0) * 1000)
    this.#images += data.images ?? 0
    if (data.cache_hit === true) this.#cacheHits++
    if (typeof data.saved_usd === 'string') this.#saved = this.#saved.plus(amountOf(data.saved_usd))
    if (data.provider_cost_usd === null || data.service_charge_usd === null) this.#unpriced++
    if (data.provider_cost_usd !== null) this.#providerCost = this.#providerCost.plus(amountOf(data.provider_cost_usd))
    if (data.service_charge_usd !== null) {
      this.#serviceCharge = this.#serviceCharge.plus(amountOf(data.service_charge_usd))
    }
  }

  get serviceCharge(): Amount {
    return this.#serviceCharge
  }

  get view(): Sums {
    return {
      calls: this.#calls,
      unpriced_calls: this.#unpriced,
      input_tokens: this.#inputTokens,
      output_tokens: this.#outputTokens,
      total_tokens: this.#inputTokens + this.#outputTokens,
      characters: this.#characters,
      seconds: this.#milliseconds / 1000,
      images: this.#images,
      cache_hits: this.#cacheHits,
      saved_usd: textOf(this.#saved),
      provider_cost_usd: textOf(this.#providerCost),
      service_charge_usd: textOf(this.#serviceCharge),
    }
  }
}

/** One group: its values in the order of the groupings, and its sums. */
export interface UsageGroup {
  readonly values: readonly (string | null)[]
  readonly sums: UsageSums
}

/** Sums usage by groups and in total. Memory grows with the number of groups, not of rows. */
export class GroupedUsage {
  readonly totals = new UsageSums()
  readonly #groupings: readonly Grouping[]
  readonly #groups = new Map<string, UsageGroup>()

  constructor(groups: readonly Grouping[]) {
    this.#groupings = groups
  }

  /** @throws {ServiceError} `invalid_query` when there are too many groups. */
  add(rows: readonly Row<UsageData>[]): void {
    for (const row of rows) {
      this.totals.add(row)
      this.#groupOf(row).sums.add(row)
    }
  }

  /** Returns the groups in the order of their values; null sorts first. */
  groups(): readonly UsageGroup[] {
    return [...this.#groups.values()].sort((one, other) => compare(one.values, other.values))
  }

  #groupOf(row: Row<UsageData>): UsageGroup {
    const values = this.#groupings.map((name) => groupings[name].of(row))
    const key = JSON.stringify(values)
    const known = this.#groups.get(key)
    if (known !== undefined) return known
    if (this.#groups.size >= maxGroups) {
      throw new ServiceError('invalid_query', {
        param: 'group_by',
        message: `There are more than ${maxGroups} groups. Request a shorter time range, or fewer dimensions.`,
      })
    }
    const group = { values, sums: new UsageSums() }
    this.#groups.set(key, group)
    return group
  }
}

const compare = (one: UsageGroup['values'], other: UsageGroup['values']): number => {
  for (const [index, value] of one.entries()) {
    const [left, right] = [value ?? '', other[index] ?? '']
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}
