import { secretKeyOrConsole } from '../access.ts'
import { defineResource } from '../dsl/resource.ts'
import { boolean, defaulted, described, nullable, optional, string } from '../dsl/schema.ts'

/** Decimal text, since floats are not exact enough for money. */
const amountPattern = '^\\d{1,9}(\\.\\d{1,18})?$'
const amount = (description: string) => defaulted(described(string({ pattern: amountPattern }), description), '0')

/**
 * Prices at which tenants are charged. A plan is immutable, so that an invoice can be reproduced; an installation can
 * change to another plan.
 */
export const ratePlans = defineResource('rate_plans', {
  path: '/v1/rate-plans',
  key: 'rate_plan_id',
  idPrefix: 'rp',
  title: 'RatePlan',
  description:
    'Prices at which tenants are charged. A plan is immutable; to change prices, assign another plan to the installation.',
  fields: {
    name: string({ minLength: 1, maxLength: 256 }),
    description: nullable(string({ maxLength: 4096 })),
    markup_percent: amount('Markup on the service charge, in percent.'),
    markup_percentage: described(
      optional(string({ pattern: amountPattern })),
      'Another name of `markup_percent`. Responses contain both; a request that contains both with different values is refused.',
    ),
    input_per_million_usd: amount('Price in USD per million input tokens, in addition to the service charge.'),
    output_per_million_usd: amount('Price in USD per million output tokens, in addition to the service charge.'),
    per_call_usd: amount('Price in USD per model call.'),
    is_default: described(
      defaulted(boolean(), false),
      'Whether the plan applies to usage that has no other plan. If several plans are default plans, the newest applies.',
    ),
  },
  writable: [
    'name',
    'description',
    'markup_percent',
    'markup_percentage',
    'input_per_million_usd',
    'output_per_million_usd',
    'per_call_usd',
    'is_default',
  ],
  access: secretKeyOrConsole,
  operations: {
    list: {},
    create: {
      description:
        'A rate plan cannot be changed. Installations name it as `rate_plan_id`; a default plan applies to all other usage.',
    },
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly ratePlans: typeof ratePlans
  }
}
