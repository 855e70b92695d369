import { secretKeyOnly, secretKeyOrDashboard } from '../access.ts'
import { answersBytes, answersEither, isJsonResponse } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { cursorPage, cursorQuery } from '../dsl/lists.ts'
import {
  array,
  boolean,
  defaulted,
  described,
  id,
  integer,
  jsonObject,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  timeOrDay,
  timestamp,
} from '../dsl/schema.ts'

const reference = () => nullable(string())
/** An exact decimal without an exponent. */
const decimal = () => string({ pattern: '^-?\\d+(\\.\\d+)?$' })

/** Dimensions of usage summaries. */
const usageGroups = ['tenant', 'agent', 'installation', 'user', 'provider', 'model', 'key', 'operation', 'day'] as const

const operation = oneOf(
  'session.turn',
  'run',
  'agent_version.test',
  'chat',
  'vision',
  'embedding',
  'speech',
  'transcription',
  'image',
  'memory',
)
const billingMode = oneOf('managed', 'byok', 'custom', 'simulated')

const time = (description: string) =>
  optional(
    described(timeOrDay(), `${description} A date such as 2026-01-31 means midnight UTC at the start of that day.`),
  )

/** A time range. */
const range = {
  days: optional(
    described(integer({ min: 1, max: 366 }), 'Number of days before `to`. Default: 30, unless `from` is given.'),
  ),
  from: time('Start of the time range, inclusive.'),
  to: time('End of the time range, exclusive. Default: now.'),
}

const whose = {
  tenant_id: optional(string({ maxLength: 128 })),
  agent_id: optional(string({ maxLength: 128 })),
  installation_id: optional(string({ maxLength: 128 })),
  external_user_id: optional(string({ maxLength: 256 })),
  model: optional(string({ maxLength: 256 })),
  operation: optional(operation),
}

const usageRow = object(
  {
    id: id('use'),
    at: timestamp(),
    tenant_id: reference(),
    agent_id: reference(),
    installation_id: reference(),
    external_user_id: reference(),
    session_id: reference(),
    run_id: reference(),
    operation,
    provider: string(),
    model: string(),
    input_tokens: integer(),
    output_tokens: integer(),
    cached_tokens: integer(),
    reasoning_tokens: integer(),
    cache_write_tokens: integer(),
    characters: nullable(integer()),
    seconds: nullable(number()),
    images: nullable(integer()),
    request_id: reference(),
    key_id: reference(),
    cache_hit: described(boolean(), 'Whether a stored answer was given. Then nothing was used or charged.'),
    saved_usd: described(
      nullable(decimal()),
      'What the stored answer had cost, in USD; null without a hit, or if unknown.',
    ),
    estimated: boolean(),
    interrupted: described(
      boolean(),
      'Whether a crash cut the call. Its tokens are estimated from the request and the part of the answer that was stored; a call of which nothing was stored has no row.',
    ),
    provider_cost_usd: described(nullable(decimal()), 'Cost in USD; null if the price of the model is unknown.'),
    service_charge_usd: nullable(decimal()),
    billing_mode: billingMode,
    price_snapshot: nullable(jsonObject()),
  },
  { title: 'UsageRow', description: 'Usage and cost of one model call.' },
)

/** Totals of a group of calls. Calls with an unknown price only count in `unpriced_calls`, not in the amounts. */
const sums = {
  calls: integer({ description: 'Number of model calls.' }),
  unpriced_calls: integer({ description: 'Number of calls with an unknown price. The amounts do not include them.' }),
  input_tokens: integer(),
  output_tokens: integer(),
  total_tokens: integer(),
  characters: integer(),
  seconds: number(),
  images: integer(),
  cache_hits: integer({ description: 'Number of calls that were given a stored answer.' }),
  saved_usd: described(decimal(), 'What the stored answers had cost, in USD.'),
  provider_cost_usd: decimal(),
  service_charge_usd: decimal(),
}

const usageGroup = object(
  {
    tenant_id: optional(reference()),
    agent_id: optional(reference()),
    installation_id: optional(reference()),
    external_user_id: optional(reference()),
    provider: optional(string()),
    model: optional(string()),
    key_id: optional(reference()),
    operation: optional(operation),
    day: optional(string()),
    ...sums,
  },
  { title: 'UsageGroup', description: 'Totals of a group of model calls.' },
)

const invoiceLine = object(
  {
    tenant_id: reference(),
    tenant_external_id: reference(),
    agent_id: reference(),
    installation_id: reference(),
    provider: string(),
    model: string(),
    ...sums,
    rate_plan_id: nullable(id('rp')),
    rate_plan: reference(),
    markup_percent: decimal(),
    markup_usd: decimal(),
    token_charge_usd: decimal(),
    call_charge_usd: decimal(),
    total_usd: decimal(),
  },
  { title: 'InvoiceLine', description: 'Charges for one model of a tenant.' },
)

const invoice = object(
  {
    project_id: id('prj'),
    currency: oneOf('USD'),
    from: timestamp(),
    to: timestamp(),
    issued_at: timestamp(),
    lines: array(invoiceLine),
    totals: object({
      ...sums,
      markup_usd: decimal(),
      token_charge_usd: decimal(),
      call_charge_usd: decimal(),
      total_usd: decimal(),
    }),
  },
  { title: 'Invoice', description: 'Charges for a time range, by tenant, agent, installation and model.' },
)

const resource = { name: 'usage', ofTenants: 'user' } as const

/** Usage of models, and invoices (specs/decisions/0070-usage.md). */
export const usage = defineOperations(resource, {
  summary: {
    summary: 'Summarize usage',
    description: 'Returns the totals of model calls, tokens and costs, grouped by `group_by`.',
    method: 'GET',
    path: '/v1/usage',
    access: secretKeyOrDashboard('member'),
    query: {
      ...range,
      ...whose,
      group_by: defaulted(array(oneOf(...usageGroups), { minItems: 1, maxItems: 8 }), ['tenant']),
    },
    answer: isJsonResponse(
      object({
        from: timestamp(),
        to: timestamp(),
        group_by: array(oneOf(...usageGroups)),
        data: array(usageGroup),
        totals: object(sums, { title: 'UsageTotals', description: 'Totals over all groups.' }),
      }),
    ),
  },
  events: {
    summary: 'List usage events',
    description: 'Newest first; one event per model call.',
    method: 'GET',
    path: '/v1/usage/events',
    access: secretKeyOnly,
    query: { ...cursorQuery, ...whose, from: range.from, to: range.to },
    answer: isJsonResponse(cursorPage(usageRow)),
  },
  export: {
    summary: 'Export an invoice',
    description:
      'Returns the usage of a time range by tenant, agent, installation and model, priced by the rate plans, as JSON or CSV.',
    method: 'GET',
    path: '/v1/usage/export',
    access: secretKeyOrDashboard('admin'),
    query: {
      ...range,
      tenant_id: whose.tenant_id,
      agent_id: whose.agent_id,
      installation_id: whose.installation_id,
      format: defaulted(oneOf('json', 'csv'), 'json'),
      rate_plan_id: optional(described(string({ maxLength: 128 }), 'Rate plan to use instead of the default plan.')),
    },
    errors: ['not_found'],
    answer: answersEither(isJsonResponse(invoice), answersBytes('text/csv')),
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly usage: typeof usage
  }
}
