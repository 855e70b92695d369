import { type ActorCaller, type Caller, isRequest, namesInHeader } from '../caller.ts'

/** Guardrails that a call adds to those of its project: those of its agent, and those that its header names. Sorted, each once. */
export const guardrailNames = (caller: Caller | ActorCaller): readonly string[] => {
  const written = isRequest(caller) ? headerNames(caller) : none
  const own = caller.guardrails ?? none
  return written.length + own.length === 0 ? none : [...new Set([...own, ...written])].sort()
}

/** The guardrails that the header of a request names. */
export const headerNames = (caller: Caller): readonly string[] => namesInHeader(caller, caller.headers?.guardrails)

const none: readonly string[] = []
