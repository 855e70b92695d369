import type { RequestLogEntry as Entry, Limit, RequestLogLine as Line, ProviderConnection } from '#client/api/index.ts'

export type Connection = Pick<
  ProviderConnection,
  'id' | 'name' | 'provider' | 'is_active' | 'status' | 'last_tested_at' | 'model_count'
>

export type PricePart = ReturnType<typeof priceParts>[number]

/** Dimensions for summing up usage, with the field of each in usage and in the log. */
export const dimensions = {
  model: 'model',
  provider: 'provider',
  tenant: 'tenant_id',
  key: 'key_id',
  agent: 'agent_id',
  operation: 'operation',
} as const

const quantile = (sorted: readonly number[], share: number) =>
  sorted.length === 0 ? null : (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null)

/** Failures and latency of one group of requests; latency covers successful requests only. @param lines newest first */
export const healthOf = (lines: readonly Pick<Line, 'error' | 'duration_ms' | 'at'>[]) => {
  const failed = lines.filter(({ error }) => error !== null)
  const times = lines
    .filter(({ error }) => error === null)
    .map(({ duration_ms }) => duration_ms)
    .toSorted((a, b) => a - b)
  const [last] = failed
  return {
    calls: lines.length,
    failed: failed.length,
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    lastError: last?.error ?? null,
    lastErrorAt: last?.at ?? null,
  }
}

/** Requests that called a provider, by provider: those refused earlier say nothing about it. */
export const byProviderOf = (lines: readonly Line[]) => [
  ...Map.groupBy(
    lines.filter(({ provider, attempts }) => provider !== null && attempts > 0),
    ({ provider }) => provider ?? '',
  ),
]

/**
 * The parts of a price: each unit with its count and its rate. The last part is the remainder that the units do not
 * explain (prices by size, searches, amounts reported by the provider).
 *
 * @returns empty when the price or the cost is unknown
 */
export const priceParts = (entry: Entry) => {
  const { price, cost_usd } = entry
  if (price === null || cost_usd === null) return []
  const { input_tokens: input, output_tokens: output } = entry
  const cached = Math.min(entry.cached_tokens, input)
  const written = Math.min(entry.cache_write_tokens, input - cached)
  const reasoning = Math.min(entry.reasoning_tokens, output)
  /** @param names the first that has a rate */
  const rate = (...names: string[]) =>
    Number(names.map((name) => price[name]).find((value) => value !== undefined) ?? Number.NaN)
  const units: readonly (readonly [string, number, number])[] = [
    ['input tokens', input - cached - written, rate('input')],
    ['cached tokens', cached, rate('cached', 'input')],
    ['tokens written to the cache', written, rate('cache_write', 'input')],
    ['output tokens', output - reasoning, rate('output')],
    ['reasoning tokens', reasoning, rate('reasoning', 'output')],
    ['characters', entry.characters ?? 0, rate('character')],
    ['seconds', entry.seconds ?? 0, rate('second')],
    ['images', entry.images ?? 0, rate('image')],
    ['call', 1, rate('call')],
  ]
  const parts = units
    .filter(([, count, each]) => count > 0 && Number.isFinite(each))
    .map(([name, count, each]) => ({ name, count, rate: each, usd: count * each }))
  const rest = Number(cost_usd) - parts.reduce((sum, { usd }) => sum + usd, 0)
  return Math.abs(rest) < 1e-12
    ? parts
    : [...parts, { name: 'prices by size, searches or audio', count: 1, rate: rest, usd: rest }]
}

const trouble = (tone: 'bad' | 'wait', id: string, what: string, cause: string) => ({ tone, id, what, cause })

/**
 * Problems of the gateway that need a person: failing providers, budgets that are nearly used up, calls without a
 * price.
 */
export const troublesOf = ({
  recent,
  limits,
  connections,
  unpriced,
}: {
  recent: readonly Line[]
  limits: readonly Limit[]
  connections: readonly Connection[]
  unpriced: number
}) => [
  ...byProviderOf(recent)
    .map(([provider, lines]) => ({ provider, ...healthOf(lines) }))
    .filter(({ calls, failed }) => failed >= 3 && failed / calls >= 0.2)
    .map(({ provider, calls, failed, lastError }) => {
      const cause = `${failed} of its newest ${calls} requests failed, last with ${lastError}.`
      return trouble('bad', `provider ${provider}`, provider, cause)
    }),
  ...connections
    .filter(({ status }) => status === 'failed')
    .map(({ id, name }) => trouble('bad', id, name, 'The last test of this connection failed.')),
  ...limits.flatMap(budgetTroubles),
  ...(unpriced === 0 ? [] : [trouble('wait', 'unpriced', `${unpriced} calls without a price`, noPrice)]),
]

const noPrice =
  'The prices of their models are unknown, so totals and budgets do not include them. Set prices on the connection.'

/** Used share of a budget from which it is reported. */
const nearlySpent = 0.8

const budgetTroubles = (limit: Limit) =>
  budgetsIn(limit)
    .filter(({ spent, budget }) => spent >= nearlySpent * budget)
    .map(({ name, spent, budget }) => {
      const [id, what] = [`${limit.id} ${name}`, `${limit.subject} ${limit.subject_id ?? ''}`.trim()]
      return spent >= budget
        ? trouble('bad', id, what, `Its budget ${name} is used up: calls are refused with budget_exceeded.`)
        : trouble('wait', id, what, `${Math.round((100 * spent) / budget)} % of its budget ${name} is used.`)
    })

/** The budgets that a limit has, in USD. */
const budgetsIn = (limit: Limit) =>
  (
    [
      ['for today', limit.budget_day_usd, limit.spent_day_usd],
      ['for this month', limit.budget_month_usd, limit.spent_month_usd],
      ['in all', limit.budget_total_usd, limit.spent_total_usd],
    ] as const
  ).flatMap(([name, budget, spent]) =>
    budget === null ? [] : [{ name, budget: Number(budget), spent: Number(spent ?? 0) }],
  )
