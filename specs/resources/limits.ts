import { secretKeyOnly, secretKeyOrDashboard } from '../access.ts'
import { answersJson } from '../answer.ts'
import { defineOperations } from '../declare.ts'
import { defineResource } from '../resource.ts'
import { boolean, described, id, integer, nullable, object, oneOf, optional, string } from '../schema.ts'

/** Decimal text: money is never a float. */
const amount = (description: string) =>
  nullable(described(string({ pattern: '^\\d{1,9}(\\.\\d{1,18})?$' }), description))
const spent = (description: string) => nullable(described(string({ pattern: '^\\d+(\\.\\d+)?$' }), description))
const count = (description: string) => nullable(described(integer({ min: 1, max: 1_000_000_000 }), description))

/** Whose calls a limit is about. */
const subject = oneOf('project', 'tenant', 'key')

/**
 * Rate limits and budgets of the gateway, for a project, each of its tenants and each of its keys; a call comes under all
 * that it meets (specs/decisions/0086-metering-and-limits.md). A second one for the same subject takes the place of the first.
 */
export const limits = defineResource('limits', {
  path: '/v1/limits',
  key: 'limit_id',
  idPrefix: 'lim',
  title: 'Limit',
  fields: {
    subject,
    subject_id: nullable(
      described(string({ minLength: 1, maxLength: 128 }), 'The tenant or key; none for the project.'),
    ),
    requests_per_minute: count('In any 60 seconds.'),
    tokens_per_minute: count('Input and output; a call is refused when those before it have used them up.'),
    budget_day_usd: amount('Of a day in UTC.'),
    budget_month_usd: amount('Of a month in UTC.'),
    budget_total_usd: amount('From when it was set.'),
    spent_day_usd: spent('Null when there is no budget at all.'),
    spent_month_usd: spent('Likewise.'),
    spent_total_usd: spent('Likewise.'),
    reserved_usd: spent('The most that calls under way can cost.'),
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
  access: secretKeyOnly,
  operations: {
    list: { query: { subject: optional(subject), subject_id: optional(string({ maxLength: 128 })) } },
    create: { summary: 'Create or change: Limit of a subject', errors: ['not_found', 'version_conflict'] },
    get: {},
    delete: {},
  },
})

/** What an organisation has paid beforehand for calls by the installation's keys. */
export const credits = defineOperations('credits', {
  get: {
    summary: "What is left of the organisation's credits",
    method: 'GET',
    path: '/v1/credits',
    access: secretKeyOrDashboard('member'),
    errors: ['not_found'],
    answer: answersJson(
      object(
        {
          organization_id: id('org'),
          /** False: calls are not asked for credits, and the amounts are null. */
          gated: boolean(),
          granted_usd: spent('Ever.'),
          spent_usd: spent('Ever.'),
          balance_usd: nullable(string({ pattern: '^-?\\d+(\\.\\d+)?$' })),
        },
        { title: 'Credits' },
      ),
    ),
  },
})
