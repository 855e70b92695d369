import { priceOf } from '#gateway/prices/prices.ts'

/** What models of Anthropic take, where they differ. */
export interface AnthropicModel {
  /** Longest answer in tokens; null when unknown. */
  readonly maxOutput: number | null
  /** False: `temperature` and `top_p` are refused. */
  readonly sampling: boolean
  /** Answers can be held to a schema (`output_config.format`). */
  readonly structured: boolean
  /**
   * How it is set to think: `adaptive` (with an effort), `budget` (in tokens), `always` (adaptive, and it cannot be
   * turned off), `none` (it does not, or that is not known).
   */
  readonly thinking: 'adaptive' | 'always' | 'budget' | 'none'
  /** Takes the effort `xhigh`. */
  readonly xhigh: boolean
}

/** By the price snapshot and by the generation in the id: a model that came out yesterday is one of the newest kind. */
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

/** `claude-opus-4-6` is 4.06, `claude-sonnet-4-20250514` is 4, `claude-3-7-sonnet-…` is 3.07; null for what is not Claude. */
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
