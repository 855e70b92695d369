import { type ActorCaller, type Caller, isRequest } from '../caller.ts'

/** Guardrails that a call adds to those of its project: those of its agent, and those that its header names. Sorted, each once. */
export const guardrailNames = (caller: Caller | ActorCaller): readonly string[] => {
  const written = isRequest(caller) ? headerNames(caller) : none
  const own = caller.guardrails ?? none
  return written.length + own.length === 0 ? none : [...new Set([...own, ...written])].sort()
}

/** The guardrails that the header of a request names. Credentials of browsers add none. */
export const headerNames = ({ headers, principal }: Caller): readonly string[] => {
  const written = headers?.guardrails
  if (written === undefined || principal.kind === 'client_token' || principal.kind === 'public') return none
  const names = written.slice(0, maxHeader).split(',')
  return names.map((name) => name.trim()).filter((name) => name !== '')
}

const none: readonly string[] = []
const maxHeader = 2_048
