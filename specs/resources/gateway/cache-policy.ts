import { secretKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import {
  boolean,
  described,
  integer,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '#specs/dsl/schema.ts'

/** Which answers of models a project reuses. */
export const cacheModes = ['off', 'on_request', 'exact', 'semantic'] as const

/** Default threshold of the semantic mode; its figures are in specs/decisions/0465-answers-that-are-reused.md. */
export const defaultThreshold = 0.95

/** The model that compares questions: none, and what applies once there is one. */
export const defaultJudge = { judge_model: null, judge_threshold: 0.8, judge_timeout_ms: 2_000 } as const

const fields = {
  mode: described(
    oneOf(...cacheModes),
    '`off`: no answer is stored, and stored ones are deleted. `on_request`: only calls with the header `X-Cache: exact` or `X-Cache: semantic` use stored answers. `exact`: a call gets the answer of an earlier call with the same model, messages and parameters. `semantic`: also of one whose last message asks the same in other words. Answers are never shared by tenants. A project whose request log keeps no bodies stores no answers.',
  ),
  ttl_s: described(integer({ min: 1, max: 604_800 }), 'Seconds for which an answer is stored.'),
  threshold: described(
    number({ min: 0.8, max: 1 }),
    'Least similarity of two last messages in the semantic mode. Numbers, names, negations and quoted words have to be the same in both.',
  ),
  any_temperature: described(
    boolean(),
    'Whether calls with a `temperature` above 0 use stored answers; calls without a temperature always do.',
  ),
  judge_model: described(
    nullable(string({ minLength: 1, maxLength: 256 })),
    'In the semantic mode, a model that decides whether the most similar stored question has the same answer, although its words are others. One call for each question that is compared, which the usage and the request log have as `cache_policy.judge`. Numbers, names with digits and quoted words have to be the same in both. When the call fails, no stored answer is given. Null: no model.',
  ),
  judge_threshold: described(
    number({ min: 0.3, max: 1 }),
    'Least similarity of a stored question that `judge_model` compares.',
  ),
  judge_timeout_ms: described(integer({ min: 100, max: 10_000 }), 'Time in ms in which `judge_model` has to answer.'),
}

const policy = object(
  { ...fields, updated_at: nullable(timestamp()) },
  { title: 'CachePolicy', description: 'Which answers of models are stored and reused by a project.' },
)

/** The cache policy of a project. Every project has one. */
export const cachePolicy = defineOperations('cache_policy', {
  get: {
    summary: 'Retrieve the cache policy',
    description: 'A project that never changed it has the mode `off`.',
    method: 'GET',
    path: '/v1/cache-policy',
    access: secretKeyOrDashboard('member'),
    answer: isJsonResponse(policy),
  },
  update: {
    summary: 'Update the cache policy',
    description:
      'Takes effect on every node within a second. Answers have the header `x-cache` with `hit`, `miss` or `bypass`. A hit costs nothing. Calls may send `Cache-Control` with `no-store`, `no-cache` or `max-age`, and `X-Cache` with another mode than that of the project.',
    method: 'PATCH',
    path: '/v1/cache-policy',
    access: secretKeyOrDashboard('admin'),
    body: object({
      mode: optional(fields.mode),
      ttl_s: optional(fields.ttl_s),
      threshold: optional(fields.threshold),
      any_temperature: optional(fields.any_temperature),
      judge_model: optional(fields.judge_model),
      judge_threshold: optional(fields.judge_threshold),
      judge_timeout_ms: optional(fields.judge_timeout_ms),
    }),
    answer: isJsonResponse(policy),
    errors: ['version_conflict'],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly cachePolicy: typeof cachePolicy
  }
}
