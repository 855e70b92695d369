import type { ActorEvent } from './event-log.ts'
import { isFailure } from './tool-failure.ts'

export type Events = readonly ActorEvent[]

/** `unpriced`: there are calls whose price is unknown */
export type Sums = ReturnType<typeof sumsOf>

/** Events that carry the usage of what they end. */
const counted = /^(turn\.(completed|failed)|run\.model_call\.completed)$/

/** Cost, tokens, tool calls, failures and time of a part of a log. */
export const sumsOf = (events: Events) => {
  const usages = events.flatMap(({ event_type, payload: { usage } }) =>
    counted.test(event_type) && typeof usage === 'object' && usage !== null ? [usage] : [],
  )
  const sum = (field: string) => usages.reduce((total, usage) => total + Number(Reflect.get(usage, field) ?? 0), 0)
  const [first, last] = [events[0], events.at(-1)]
  return {
    cost: sum('cost_usd'),
    unpriced: usages.some((usage) => Reflect.get(usage, 'cost_usd') === null),
    tokens: sum('total_tokens'),
    tools: events.filter(({ event_type }) => event_type.endsWith('tool_call.completed')).length,
    errors: events.filter(isFailure).length,
    ms: first && last ? Date.parse(last.created_at) - Date.parse(first.created_at) : null,
  }
}
