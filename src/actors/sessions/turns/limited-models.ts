import type { Principal } from '#actors/call/call.ts'
import { requireModels } from '#actors/call/reach.ts'
import { arrayOf } from '#outgoing/wire.ts'
import type { AgentConfig } from './turn-plan.ts'

/**
 * Checks the models that a turn or run of this config calls against the limits of the credential that starts it.
 *
 * @param named the model that the request names instead of the agent's.
 * @throws {ServiceError} `insufficient_scope`
 */
export const requireConfigModels = (
  principal: Principal,
  { model, sampling, context, memory }: AgentConfig,
  { named, byDefault }: { readonly named?: string | undefined; readonly byDefault: string },
): void => {
  const extracting = typeof memory === 'object' ? memory.extract?.model : undefined
  const used = [
    named ?? model ?? byDefault,
    ...(named === undefined ? arrayOf(sampling?.models).map(String) : []),
    ...[context?.model, extracting].flatMap((each) => each ?? []),
  ]
  requireModels(principal, used)
}
