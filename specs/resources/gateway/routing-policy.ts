import { secretKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { boolean, described, nullable, object, oneOf, optional, timestamp } from '#specs/dsl/schema.ts'

/** Ways to spread the calls of one model over several provider connections. */
const poolStrategies = ['priority', 'weighted', 'least_busy', 'lowest_latency', 'lowest_cost'] as const

/** One of `poolStrategies`. */
export type PoolStrategy = (typeof poolStrategies)[number]

const fields = {
  strategy: described(
    oneOf(...poolStrategies),
    'Which of several provider connections that serve a model gets a call. `priority`: the oldest, the others when it fails. `weighted`: by `weight`, less to those that fail. `least_busy`: the one with the fewest calls in progress for its weight. `lowest_latency`: those that begin their answers soonest. `lowest_cost`: the one with the lowest prices. A connection that fails repeatedly or is rate limited rests, and the call goes to another one at once.',
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
      'Applies to calls that begin afterwards. The answers of a model that several connections serve name the choice in the header `x-route`.',
    method: 'PATCH',
    path: '/v1/routing-policy',
    access: secretKeyOrDashboard('admin'),
    body: object({ strategy: optional(fields.strategy), sticky: optional(fields.sticky) }),
    answer: isJsonResponse(policy),
    errors: ['version_conflict'],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly routingPolicy: typeof routingPolicy
  }
}
