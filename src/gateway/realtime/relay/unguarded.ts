import type { Caller } from '#gateway/call/caller.ts'
import { enforcedBy } from '#gateway/guardrails/guard-set.ts'
import type { Guardrails } from '#gateway/guardrails/stored-guardrails.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/**
 * Refuses a session that a provider would serve if a guardrail of its caller blocks or redacts: what is spoken and heard
 * there cannot be checked (specs/decisions/0485-guardrails.md).
 *
 * @throws {ServiceError} (or rejects with) `content_policy_violation`
 */
export const requireUnguarded = (guardrails: Guardrails | undefined, caller: Caller): void | Promise<void> => {
  const opened = guardrails?.open(caller) ?? null
  return opened instanceof Promise ? opened.then(refuse) : refuse(opened)
}

const refuse = (guard: Awaited<ReturnType<Guardrails['open']>>): void => {
  const name = guard === null ? null : enforcedBy(guard.set)
  if (name === null) return
  const message = `The guardrail '${name}' cannot check a realtime session of this model. Use a chat model or an agent.`
  throw new ServiceError('content_policy_violation', { param: 'model', message })
}
