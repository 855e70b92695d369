import { secretKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import {
  array,
  boolean,
  described,
  type Infer,
  integer,
  nullable,
  number,
  object,
  oneOf,
  optional,
  record,
  string,
  timestamp,
} from '#specs/dsl/schema.ts'

/** Ways to spread the calls of one model over several providers of a project. */
const poolStrategies = ['priority', 'weighted', 'least_busy', 'lowest_latency', 'lowest_cost'] as const

/** One of `poolStrategies`. */
export type PoolStrategy = (typeof poolStrategies)[number]

/** Share of a provider in the pools of its models. */
export const poolWeight = described(
  integer({ min: 0, max: 1000 }),
  'Share of the calls of a model that several connections or custom providers serve, by the strategy of the routing policy (`routing_policy`). 0: only when the others fail.',
)

const perMinute = (description: string) => nullable(described(integer({ min: 1, max: 1_000_000_000 }), description))

/** Limits of one key of a provider. */
export const keyLimits = {
  requests_per_minute: perMinute(
    'Maximum number of requests with this key in any 60 seconds (sliding window), as its provider allows. Calls of a key at its limit go to the next key of the model, or are refused with 429 `rate_limit_exceeded`. Null: no limit.',
  ),
  tokens_per_minute: perMinute(
    'Maximum number of input and output tokens with this key in any 60 seconds (sliding window). A call holds an estimate until it ends, as for `limits`. Null: no limit.',
  ),
}

const word = string({ minLength: 1, maxLength: 256 })
const words = optional(array(word, { minItems: 1, maxItems: 100 }))
const bytes = optional(integer({ min: 0, max: 1_000_000_000 }))

const condition = object(
  {
    models: described(words, 'The requested model is one of these.'),
    tenants: described(words, 'The call is attributed to one of these tenants, by id.'),
    tags: described(words, 'The header `X-Route-Tags` has all of these.'),
    metadata: described(
      optional(record(string({ maxLength: 512 }), { maxProperties: 16 })),
      'The `metadata` of the request has these values.',
    ),
    min_bytes: described(bytes, 'The texts of the messages have at least this many bytes.'),
    max_bytes: described(bytes, 'The texts of the messages have at most this many bytes.'),
  },
  { title: 'RoutingCondition', description: 'All that is given must hold. Without any, every call matches.' },
)

const rule = object(
  {
    name: described(string({ pattern: '^[a-z0-9_-]{1,64}$' }), 'Unique in the policy; shown in `x-route`.'),
    when: optional(condition),
    model: described(
      optional(word),
      'Model that serves the call. The requested model is its fallback. Of several rules, the first that matches counts.',
    ),
    shadow_model: described(
      optional(word),
      'Model that gets a copy of the call after its answer is complete. What it answers is not returned. Of several rules, the first that matches counts.',
    ),
    percent: described(
      optional(number({ min: 0, max: 100 })),
      'Share of the matching calls that the rule applies to; all calls of a conversation are treated alike. Default: 100.',
    ),
  },
  { title: 'RoutingRule', description: 'A rule with `model`, `shadow_model`, or both.' },
)

/** One rule of a routing policy. */
export type RoutingRule = Infer<typeof rule>

const fields = {
  rules: described(
    array(rule, { maxItems: 100 }),
    'Rules for calls of models, turns and runs, in order. Those without `models` in `when` apply to chats only. A rule does not reach a model that the credential of the call does not. Copies for `shadow_model` are made of chats, but not of those with tools, of batches and of reused answers; they are charged to the project, have the operation `shadow` in the request log, and are dropped while 16 are in progress.',
  ),
  strategy: described(
    oneOf(...poolStrategies),
    'Which of several provider connections and custom providers that serve a model gets a call. `priority`: the oldest, the others when it fails. `weighted`: by `weight`, less to those that fail. `least_busy`: the one with the fewest calls in progress for its weight. `lowest_latency`: those that begin their answers soonest. `lowest_cost`: the one with the lowest prices. A connection that fails repeatedly or is rate limited rests, and the call goes to another one at once.',
  ),
  sticky: described(
    boolean(),
    'Whether `weighted` and `least_busy` keep a conversation on one connection, so that the prompt cache of its provider is used. A conversation is known by `prompt_cache_key`, its session or run, or the beginning of its messages.',
  ),
}

const policy = object(
  { ...fields, updated_at: nullable(timestamp()) },
  { title: 'RoutingPolicy', description: 'How model calls are spread over the provider connections of a project.' },
)

/** The routing policy of a project. Every project has one. */
export const routingPolicy = defineOperations('routing_policy', {
  get: {
    summary: 'Retrieve the routing policy',
    description: 'A project that never changed it has the strategy `priority`.',
    method: 'GET',
    path: '/v1/routing-policy',
    access: secretKeyOrDashboard('member'),
    answer: isJsonResponse(policy),
  },
  update: {
    summary: 'Update the routing policy',
    description:
      'Applies to calls that begin afterwards. The header `x-route` of an answer names the choice of a connection where a model has several, and the rules that applied.',
    method: 'PATCH',
    path: '/v1/routing-policy',
    access: secretKeyOrDashboard('admin'),
    body: object({
      strategy: optional(fields.strategy),
      sticky: optional(fields.sticky),
      rules: described(optional(fields.rules), 'Replaces all rules.'),
    }),
    answer: isJsonResponse(policy),
    errors: ['version_conflict'],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly routingPolicy: typeof routingPolicy
  }
}
