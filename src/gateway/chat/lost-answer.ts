import { ServiceError } from '#specs/errors/errors.ts'
import type { Charge } from '../call/accounting/charge.ts'
import { tokensOfChars } from '../call/accounting/usage.ts'
import { orRefusal } from '../call/refusal.ts'
import { ChatRecord } from './chat-record.ts'
import type { ChatParts, ChatRunRequest } from './chat-run-request.ts'
import { chatCandidates, chatRules } from './rules/chat-candidates.ts'

/**
 * Returns the estimated charge for an answer of which only the request and the beginning of its text are known, because
 * the process that received it has ended; null if the model has no route any more. The route is the one that a call
 * would take now. Budgets count it, since the provider charges for it; one that is used up does not refuse it.
 *
 * @throws {StoreUnavailable}
 */
export const chargeLost = async (
  { routes, health, admission }: Pick<ChatParts, 'routes' | 'health' | 'admission'>,
  request: ChatRunRequest,
  text: string,
): Promise<Charge | null> => {
  const { caller, need } = request
  const rules = await chatRules({ routes }, request)
  const way = await orRefusal(() => chatCandidates({ routes, health }, request, rules).next())
  if (way === null || way instanceof ServiceError) return null
  const { route } = way
  const record = new ChatRecord({ route }, request)
  record.tokensSoFar = tokensOfChars(text.length)
  const charge = record.partial()
  if (charge === null) return null
  const { usage, costUsd } = charge
  const tokens = usage.inputTokens + usage.outputTokens
  const admitted = await orRefusal(() =>
    admission.admit({
      ...{ caller, need, model: way.model, source: route.source },
      ...{ maxUsd: () => costUsd, minUsd: () => '0', tokens: () => ({ max: tokens }) },
    }),
  )
  if (!(admitted instanceof ServiceError)) {
    admitted.settle(costUsd, tokens)
    await admitted.counted?.()
  }
  return charge
}
