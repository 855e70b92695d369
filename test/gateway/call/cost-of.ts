import type { ModelUsage } from '../../../src/gateway/call/provider-port.ts'
import { costOfUnits, priceOf } from '../../../src/gateway/prices/prices.ts'

/** What a chat with a model costs. @param model its id or `provider/id` */
export const costOf = (model: string, tokens: ModelUsage): string | null => costOfUnits(priceOf(model), { tokens })
