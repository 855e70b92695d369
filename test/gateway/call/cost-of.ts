import { costOfUnits, priceOf } from '#gateway/prices/prices.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'

/** What a chat with a model costs. @param model its id or `provider/id` */
export const costOf = (model: string, tokens: TokenUsage): string | null => costOfUnits(priceOf(model), { tokens })
