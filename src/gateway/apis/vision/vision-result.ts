import type { ChatOutcome, ChatSummary } from '#gateway/call/chat-calls.ts'
import type { KeySource } from '#gateway/call/routes.ts'
import { amountOf, percentOf, textOf as textOfAmount } from '#gateway/prices/money.ts'
import { arrayOf, objectOf, parseJson, textOf } from '#outgoing/wire.ts'
import { isObject } from '#runtime/index.ts'
import type { JsonObject } from '#specs/dsl/json.ts'
import { codeIn } from '#specs/errors/wire-errors.ts'
import type { ResultOf } from '#specs/index.ts'
import type { StreamForm } from '../streamed-chat.ts'

type About = Pick<ResultOf<'vision.analyze'>, 'model' | 'provider' | 'usage' | 'cost'>

/**
 * Percentage charged on top of the cost of calls with the installation's key. Calls with a project's own key are not
 * charged.
 */
const managedMarkup = '0'

/** Returns the text of the model's answer. */
export const answerText = ({ completion }: Pick<ChatOutcome, 'completion'>): string =>
  textOf(objectOf(objectOf(arrayOf(completion.choices)[0]).message).content)

/** Returns everything of a result except the model's text. */
export const aboutOf = ({ model, route, usage, costUsd }: ChatSummary): About => ({
  model,
  provider: route.provider,
  usage: {
    promptTokens: usage.inputTokens,
    completionTokens: usage.outputTokens,
    totalTokens: usage.inputTokens + usage.outputTokens,
  },
  cost: costOf(costUsd, route.source),
})

const costOf = (costUsd: string | null, source: KeySource): About['cost'] => {
  const own = source === 'byok' || source === 'custom'
  const markupPercentage = own ? 0 : Number(managedMarkup)
  if (costUsd === null) return { providerCostUsd: null, serviceChargeUsd: own ? 0 : null, markupPercentage }
  return { providerCostUsd: Number(costUsd), serviceChargeUsd: own ? 0 : Number(chargeFor(costUsd)), markupPercentage }
}

const chargeFor = (costUsd: string): string => {
  const cost = amountOf(costUsd)
  return textOfAmount(cost.plus(percentOf(cost, amountOf(managedMarkup))))
}

/**
 * Returns the JSON object in a model's answer: bare, in a fenced block, or between other text; null when there is none.
 */
export const classificationIn = (raw: string): JsonObject | null => {
  const fenced = /```(?:json)?([\s\S]*?)```/i.exec(raw)?.[1]
  const between = raw.slice(raw.indexOf('{'), raw.lastIndexOf('}') + 1)
  for (const text of [raw, fenced, between]) {
    const parsed = text === undefined ? undefined : parseJson(text)
    if (isObject(parsed)) return parsed
  }
  return null
}

/** Frame writer of a streamed answer: deltas, then usage and cost, then `[DONE]`. */
export const visionFrames = (requestId: string): StreamForm => ({
  chunk: (chunk) => {
    const delta = textOf(objectOf(objectOf(arrayOf(chunk.choices)[0]).delta).content)
    return delta === '' ? '' : frame({ delta })
  },
  end: (summary) => `${frame({ done: true, ...aboutOf(summary) })}data: [DONE]\n\n`,
  fail: (error) => frame({ error: codeIn('flat', error.code), message: error.message, request_id: requestId }),
})

const frame = (data: object): string => `data: ${JSON.stringify(data)}\n\n`
