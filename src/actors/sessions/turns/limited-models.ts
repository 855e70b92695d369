import { requireModels } from '#actors/call/reach.ts'
import { arrayOf } from '#outgoing/wire.ts'
import type { AgentConfig } from './turn-plan.ts'

/**
 * Checks the models that a turn or run of this config calls against those of the limited key that started the work.
 *
 * @param limit the models of the key; undefined: any.
 * @param named the model that the request names instead of the agent's.
 * @throws {ServiceError} `insufficient_scope`
 */
export const requireConfigModels = (
  limit: readonly string[] | undefined,
  { model, sampling, context, memory }: AgentConfig,
  { named, byDefault }: { readonly named?: string | undefined; readonly byDefault: string },
): void => {
  const extracting = typeof memory === 'object' ? memory.extract?.model : undefined
  const used = [
    named ?? model ?? byDefault,
    ...(named === undefined ? arrayOf(sampling?.models).map(String) : []),
    ...[context?.model, extracting].flatMap((each) => each ?? []),
  ]
  requireModels(limit, used)
}
