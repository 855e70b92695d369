import { integer, number, object, optional } from './dsl/schema.ts'

/** Limits of an agent's runs. A run that reaches one fails with `too_many_steps`, `token_limit_exceeded`, `cost_limit_exceeded` or `time_limit_exceeded`. */
export const runLimits = object(
  {
    max_steps: optional(integer({ min: 1, max: 200, description: 'Maximum number of model calls. Default: 50.' })),
    max_tokens: optional(
      integer({ min: 1, description: 'Maximum total of input and output tokens over all model calls.' }),
    ),
    max_cost_usd: optional(
      number({ min: 0, description: 'Maximum cost in USD, counted over model calls with a known price.' }),
    ),
    max_duration_s: optional(
      integer({
        min: 1,
        max: 604_800,
        description:
          'Maximum duration in seconds from the start, including time spent waiting. Default: 604,800 (7 days).',
      }),
    ),
  },
  { title: 'RunLimits', description: "Limits of an agent's runs. A run that reaches one fails." },
)

/** Limits of every run, whatever its agent allows (RUN_MAX_STEPS …); null means no limit. */
export interface RunCeilings {
  readonly maxSteps: number | null
  readonly maxTokens: number | null
  /** Decimal text. */
  readonly maxCostUsd: string | null
  readonly maxDurationS: number | null
}
