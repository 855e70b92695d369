import type { Evidence, GatedCall, PlainAction, ToolCall } from './evidence.ts'
import type { Problem } from './verdict.ts'

/**
 * Checks that each approved tool ran once, a rejected one never, and that one with an unknown outcome was not called
 * again.
 */
export const judgeTools = ({ gated, toolCalls }: Pick<Evidence, 'gated' | 'toolCalls'>): readonly Problem[] => {
  const calls = Map.groupBy(toolCalls, ({ actionId }) => actionId)
  const known = new Set(gated.map(({ actionId }) => actionId))
  const strays = [...calls.keys()].filter((id) => !known.has(id))
  return [
    ...gated.flatMap((call) => judgeCall(call, calls.get(call.actionId) ?? [])),
    ...strays.map((id) => problem('broken', id, 'its tool ran, and nobody decided on it')),
  ]
}

const judgeCall = (call: GatedCall, calls: readonly ToolCall[]): readonly Problem[] => {
  const { actionId: id, runs, decision, action } = call
  if (action === null) return [problem('lost', id, 'it cannot be read')]
  if (runs === 'caller' || decision === 'reject') return [...ran(id, calls.length, 0), ...decided(call, action.status)]
  // a tool that honours the idempotency key acts once for all calls with the same key
  const times = runs === 'idempotent' ? new Set(calls.map(({ key }) => key)).size : calls.length
  if (times > 1) return [problem('doubled', id, `its tool ran ${times} times`)]
  if (action.status === 'executed') return ran(id, times, 1)
  return unfinished(call, action.status, action.error?.code)
}

const ran = (id: string, times: number, wanted: number): readonly Problem[] => {
  if (times === wanted) return []
  return [problem(times > wanted ? 'doubled' : 'lost', id, `its tool ran ${times} times instead of ${wanted}`)]
}

const decided = ({ actionId, decision, acknowledged }: GatedCall, status: string): readonly Problem[] => {
  const wanted = decision === 'approve' ? 'executed' : 'rejected'
  return !acknowledged || status === wanted ? [] : [problem('lost', actionId, `${decision} was taken, it is ${status}`)]
}

/**
 * Checks a call without a result: only one that must not be repeated may end without an outcome, and it has to say so.
 */
const unfinished = (call: GatedCall, status: string, code: string | undefined): readonly Problem[] => {
  const { actionId: id, runs, acknowledged } = call
  if (status === 'pending_approval') return acknowledged ? [problem('lost', id, 'the approval was taken')] : []
  if (status === 'failed' && code === 'outcome_unknown' && runs === 'at_most_once') return []
  return [problem('broken', id, `it is ${status} ${code ?? ''} and runs ${runs}`)]
}

/** Checks that an acknowledged decision on a standalone action was kept. */
export const judgePlain = ({ id, decision, acknowledged, action }: PlainAction): readonly Problem[] => {
  if (action === null) return [problem('lost', id, 'it cannot be read')]
  const wanted = decision === null ? 'pending_approval' : decision === 'approve' ? 'approved' : 'rejected'
  const allowed = acknowledged ? [wanted] : [wanted, 'pending_approval']
  return allowed.includes(action.status) ? [] : [problem('lost', id, `it is ${action.status} instead of ${wanted}`)]
}

const problem = (kind: Problem['kind'], id: string, what: string): Problem => ({ kind, what: `${id}: ${what}` })
