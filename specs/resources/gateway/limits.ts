import { secretKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { defineResource } from '#specs/dsl/resource.ts'
import { boolean, described, id, integer, nullable, object, oneOf, optional, string } from '#specs/dsl/schema.ts'

/** Decimal text, since floats are not exact enough for money. */
const amount = (description: string) =>
  nullable(described(string({ pattern: '^\\d{1,9}(\\.\\d{1,18})?$' }), description))
const spent = (description: string) => nullable(described(string({ pattern: '^\\d+(\\.\\d+)?$' }), description))
const count = (description: string) => nullable(described(integer({ min: 1, max: 1_000_000_000 }), description))

/** Subject of a limit. */
const subject = described(oneOf('project', 'tenant', 'key'), 'Subject whose calls are limited.')

/**
 * Rate limits and budgets of a project, a tenant or a key. A call must satisfy every limit that applies to it
 * (specs/decisions/0086-metering-and-limits.md). A second limit for the same subject replaces the first.
 */
export const limits = defineResource('limits', {
  path: '/v1/limits',
  key: 'limit_id',
  idPrefix: 'lim',
  title: 'Limit',
  description:
    'Rate limits and budgets of a project, a tenant or a key. A call must comply with every limit that applies to it.',
  fields: {
    subject,
    subject_id: nullable(
      described(string({ minLength: 1, maxLength: 128 }), 'Id of the tenant or key. Null for the project.'),
    ),
    requests_per_minute: count('Maximum number of requests in any 60 seconds (sliding window).'),
    tokens_per_minute: count(
      'Maximum number of input and output tokens in any 60 seconds (sliding window). A call holds an estimate of its input and its longest answer until it ends, so that all calls together exceed the limit by at most one call. An answer without a limit of its own may be limited to an eighth of what is left, but at least to 4,096 tokens; the header `x-max-tokens-limited` says so.',
    ),
    budget_day_usd: amount('Budget per day (UTC) in USD.'),
    budget_month_usd: amount('Budget per calendar month (UTC) in USD.'),
    budget_total_usd: amount('Total budget in USD that never resets, counted from its creation.'),
    spent_day_usd: spent('USD spent today. Null if there is no such budget.'),
    spent_month_usd: spent('USD spent this month. Null if there is no such budget.'),
    spent_total_usd: spent('USD spent since the budget was created. Null if there is no such budget.'),
    reserved_usd: spent('Maximum cost in USD of the calls in progress, held against the budgets.'),
  },
  writable: [
    'subject',
    'subject_id',
    'requests_per_minute',
    'tokens_per_minute',
    'budget_day_usd',
    'budget_month_usd',
    'budget_total_usd',
  ],
  access: secretKeyOrDashboard('admin'),
  operations: {
    list: {
      access: secretKeyOrDashboard('member'),
      query: { subject: optional(subject), subject_id: optional(string({ maxLength: 128 })) },
    },
    create: {
      summary: 'Create or replace a limit',
      description: 'Replaces the existing limit of the same subject, if there is one.',
      errors: ['not_found', 'version_conflict'],
    },
    get: {
      access: secretKeyOrDashboard('member'),
      description: 'Returns the limit and what has been spent of its budget so far.',
    },
    delete: {
      description:
        'Its subject is no longer limited by it, and what was spent is forgotten: a new limit begins at zero.',
    },
  },
})

/** Prepaid credits of an organisation, for calls with managed keys. */
export const credits = defineOperations('credits', {
  get: {
    summary: "Retrieve the organisation's credits",
    description: 'Credits pay for calls with managed keys. Calls with your own keys cost no credits.',
    method: 'GET',
    path: '/v1/credits',
    access: secretKeyOrDashboard('member'),
    errors: ['not_found'],
    answer: isJsonResponse(
      object(
        {
          organization_id: id('org'),
          gated: described(boolean(), 'Whether calls require credits. If false, the amounts are null.'),
          granted_usd: spent('Total USD granted.'),
          spent_usd: spent('Total USD spent.'),
          balance_usd: nullable(string({ pattern: '^-?\\d+(\\.\\d+)?$', description: 'Remaining balance in USD.' })),
        },
        { title: 'Credits', description: 'Prepaid credits of an organisation.' },
      ),
    ),
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly limits: typeof limits
    readonly credits: typeof credits
  }
}
