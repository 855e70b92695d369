import { secretKeyOnly } from '../access.ts'
import { defineResource } from '../resource.ts'
import { boolean, defaulted, described, nullable, string } from '../schema.ts'

/** Decimal text: money is never a float. */
const amount = (description: string) =>
  defaulted(described(string({ pattern: '^\\d{1,9}(\\.\\d{1,18})?$' }), description), '0')

/**
 * What tenants are charged for what their agents use. Plans are never changed, so an invoice can be made again:
 * an installation is given another one instead.
 */
export const ratePlans = defineResource('rate_plans', {
  path: '/v1/rate-plans',
  key: 'rate_plan_id',
  idPrefix: 'rp',
  title: 'RatePlan',
  fields: {
    name: string({ minLength: 1, maxLength: 256 }),
    description: nullable(string({ maxLength: 4096 })),
    markup_percent: amount('On top of the service charge, in percent.'),
    input_per_million_usd: amount('For a million input tokens, beside the marked-up service charge.'),
    output_per_million_usd: amount('For a million output tokens, likewise.'),
    per_call_usd: amount('For each model call.'),
    is_default: described(
      defaulted(boolean(), false),
      'Charges what belongs to no installation with a plan; of several the newest.',
    ),
  },
  writable: [
    'name',
    'description',
    'markup_percent',
    'input_per_million_usd',
    'output_per_million_usd',
    'per_call_usd',
    'is_default',
  ],
  access: secretKeyOnly,
  operations: { list: {}, create: {} },
})
