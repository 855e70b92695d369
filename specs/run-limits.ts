import { integer, number, object, optional } from './schema.ts'

/** How far the runs of an agent may go; each bound ends a run as failed with a code of its own. */
export const runLimits = object(
  {
    /** Model calls. */
    max_steps: optional(integer({ min: 1, max: 200 })),
    /** Input and output tokens of all model calls. */
    max_tokens: optional(integer({ min: 1 })),
    /** USD, of model calls whose price is known. */
    max_cost_usd: optional(number({ min: 0 })),
    /** Seconds from the start on, waiting included. */
    max_duration_s: optional(integer({ min: 1, max: 604_800 })),
  },
  { title: 'RunLimits' },
)

/** How far any run may go, whatever its agent says (RUN_MAX_STEPS …); null for no such bound. */
export interface RunCeilings {
  readonly maxSteps: number | null
  readonly maxTokens: number | null
  /** Decimal text. */
  readonly maxCostUsd: string | null
  readonly maxDurationS: number | null
}
