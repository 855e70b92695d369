import type { WireObject } from '#outgoing/wire.ts'
import type { GoogleModel } from './google-model.ts'

/** Thinking budget in tokens for each `reasoning_effort`, according to Google. */
const budgets: Readonly<Record<string, number>> = {
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
}
const levels: Readonly<Record<string, string>> = {
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
}

/** Minimum budget of a model that always thinks. */
const minBudget = 128

/** Converts `reasoning_effort`; null when it is not set, or the model does not think. */
export function thinkingConfig(effort: unknown, { thinking, alwaysThinks }: GoogleModel): WireObject | null {
  if (typeof effort !== 'string' || thinking === 'none') return null
  if (thinking === 'budget') {
    const thinkingBudget = effort === 'none' ? (alwaysThinks ? minBudget : 0) : budgets[effort]
    return thinkingBudget === undefined ? null : { thinkingBudget }
  }
  const min = alwaysThinks ? 'low' : 'minimal'
  const thinkingLevel = effort === 'none' || effort === 'minimal' ? min : levels[effort]
  return thinkingLevel === undefined ? null : { thinkingLevel }
}
