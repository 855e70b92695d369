import { isObject, objectOf, type WireObject } from '#outgoing/wire.ts'
import type { AnthropicModel } from './anthropic-model.ts'

/** Thinking parameters in Anthropic's format. */
export interface Thinking {
  readonly thinking?: WireObject
  readonly effort?: string
}

const smallestBudget = 1_024
const budgets: Readonly<Record<string, number>> = {
  minimal: smallestBudget,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
}

/**
 * Returns the effort given in Anthropic's own format (`output_config.effort`). It can be combined with any thinking
 * mode, or with none.
 */
export const ownEffort = (body: WireObject): Thinking => {
  const { effort } = objectOf(body.output_config)
  return typeof effort === 'string' ? { effort } : {}
}

/**
 * Converts `reasoning_effort`. `thinking` and `output_config.effort` in Anthropic's own format take precedence.
 *
 * A budget leaves at least half of the output tokens for the response; no budget is sent when that half is below the
 * minimum.
 */
export function thinkingOf(body: WireObject, model: AnthropicModel, maxTokens: number): Thinking {
  const own = ownEffort(body)
  if (isObject(body.thinking)) return { thinking: body.thinking, ...own }
  if (own.effort !== undefined) return own
  const effortRequested = body.reasoning_effort
  if (typeof effortRequested !== 'string' || model.thinking === 'none') return {}
  if (model.thinking === 'budget') return budgetOf(effortRequested, maxTokens)
  if (effortRequested === 'none')
    return model.thinking === 'always' ? { effort: 'low' } : { thinking: { type: 'disabled' } }
  const effort = effortOf(effortRequested, model)
  return effort === null ? {} : { thinking: { type: 'adaptive' }, effort }
}

function budgetOf(requested: string, maxTokens: number): Thinking {
  const budget_tokens = Math.min(budgets[requested] ?? 0, Math.floor(maxTokens / 2))
  return budget_tokens < smallestBudget ? {} : { thinking: { type: 'enabled', budget_tokens } }
}

function effortOf(requested: string, model: AnthropicModel): string | null {
  if (requested === 'minimal') return 'low'
  if (requested === 'xhigh') return model.xhigh ? 'xhigh' : 'high'
  return requested in budgets ? requested : null
}

/** Whether the request enables thinking: such a request may set neither sampling parameters nor a forced tool. */
export const thinks = ({ thinking }: Thinking): boolean => thinking !== undefined && thinking.type !== 'disabled'
