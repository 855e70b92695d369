import { ServiceError } from '#specs/errors/errors.ts'
import type { Charge } from '../call/accounting/charge.ts'
import { tokensOfChars } from '../call/accounting/usage.ts'
import { RouteCandidates } from '../call/route-candidates.ts'
import { ChatRecord } from './chat-record.ts'
import { modelsOf } from './chat-request.ts'
import type { ChatParts, ChatRunRequest } from './chat-run-request.ts'

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
  const { caller, need, body } = request
  const models = modelsOf(body)
  const way = await orNull(() =>
    new RouteCandidates({ routes, health }, { project: caller.project, need, models }).next(),
  )
  if (way === null) return null
  const { route } = way
  const record = new ChatRecord({ route }, request)
  record.tokensSoFar = tokensOfChars(text.length)
  const charge = record.partial()
  if (charge === null) return null
  const { usage, costUsd } = charge
  const tokens = usage.inputTokens + usage.outputTokens
  const ticket = await orNull(() =>
    admission.admit({
      ...{ caller, need, model: way.model, source: route.source },
      ...{ maxUsd: () => costUsd, minUsd: () => '0', tokens: () => ({ max: tokens }) },
    }),
  )
  ticket?.settle(costUsd, tokens)
  await ticket?.counted?.()
  return charge
}

/** Null where the work is refused. */
const orNull = async <T>(work: () => T | Promise<T>): Promise<T | null> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}
