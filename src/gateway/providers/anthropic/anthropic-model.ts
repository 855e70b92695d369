import { priceOf } from '#gateway/prices/prices.ts'

/** Parameters in which Anthropic's models differ. */
export interface AnthropicModel {
  /** Maximum output tokens; null when unknown. */
  readonly maxOutput: number | null
  /** False: the model rejects `temperature` and `top_p`. */
  readonly sampling: boolean
  /** Whether the model supports structured outputs (`output_config.format`). */
  readonly structured: boolean
  /**
   * How thinking is configured: `adaptive` (with an effort), `budget` (in tokens), `always` (adaptive, and it cannot be
   * turned off), `none` (the model does not think, or it is not known whether it does).
   */
  readonly thinking: 'adaptive' | 'always' | 'budget' | 'none'
  /** Whether the model accepts the effort `xhigh`. */
  readonly xhigh: boolean
}

/**
 * Derives the parameters from the price snapshot and the generation in the id. A Claude model of unknown generation is
 * treated as one of the newest.
 */
export function anthropicModel(id: string): AnthropicModel {
  const row = priceOf(id)
  const generation = generationOf(id)
  return {
    maxOutput: row?.max_output ?? null,
    sampling: row === undefined ? generation === null || generation < 4.07 : row.sampling !== false,
    structured: row?.capabilities.includes('structuredOutput') ?? (generation !== null && generation >= 4.05),
    thinking: thinkingOf(id, generation),
    xhigh: generation !== null && generation >= 4.07,
  }
}

/**
 * Returns 4.06 for `claude-opus-4-6`, 4 for `claude-sonnet-4-20250514`, 3.07 for `claude-3-7-sonnet-…`; infinity for
 * other `claude-` ids; null for what is not Claude.
 */
function generationOf(id: string): number | null {
  const found = /^claude-(?:(\d+)(?:-(\d{1,2}))?-[a-z]+|[a-z]+-(\d+)(?:-(\d{1,2})(?!\d))?)/.exec(id)
  if (found === null) return id.startsWith('claude-') ? Number.POSITIVE_INFINITY : null
  return Number(found[1] ?? found[3]) + Number(found[2] ?? found[4] ?? 0) / 100
}

function thinkingOf(id: string, generation: number | null): AnthropicModel['thinking'] {
  if (generation === null || generation < 3.07) return 'none'
  if (generation < 4.06) return 'budget'
  return /^claude-(?:fable|mythos)-/.test(id) ? 'always' : 'adaptive'
}
