import { costOfUnits, priceOf } from '#gateway/prices/prices.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'

/** The cost of a chat. @param model the id of a model or `provider/id` */
export const costOf = (model: string, tokens: TokenUsage): string | null => costOfUnits(priceOf(model), { tokens })
