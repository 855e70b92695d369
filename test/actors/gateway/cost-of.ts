import { costOfUnits, priceOf } from '../../../src/actors/gateway/prices.ts'
import type { ModelUsage } from '../../../src/actors/gateway/provider-port.ts'

/** What a chat with a model costs. @param model its id or `provider/id` */
export const costOf = (model: string, tokens: ModelUsage): string | null => costOfUnits(priceOf(model), { tokens })
