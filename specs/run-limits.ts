import { integer, number, object, optional } from './dsl/schema.ts'

/** Limits of an agent's runs. A run that reaches one fails with `too_many_steps`, `token_limit_exceeded`, `cost_limit_exceeded` or `time_limit_exceeded`. */
export const runLimits = object(
  {
    max_steps: optional(integer({ min: 1, max: 200, description: 'Most model calls. Default: 50.' })),
    max_tokens: optional(integer({ min: 1, description: 'Most input and output tokens of all model calls.' })),
    max_cost_usd: optional(number({ min: 0, description: 'Most USD, counted over model calls with a known price.' })),
    max_duration_s: optional(
      integer({ min: 1, max: 604_800, description: 'Most seconds from the start, waiting included. Default: 7 days.' }),
    ),
  },
  { title: 'RunLimits', description: "Limits of an agent's runs. A run that reaches one fails." },
)

/** Limits of every run, whatever its agent allows (RUN_MAX_STEPS …); null for no limit. */
export interface RunCeilings {
  readonly maxSteps: number | null
  readonly maxTokens: number | null
  /** Decimal text. */
  readonly maxCostUsd: string | null
  readonly maxDurationS: number | null
}
