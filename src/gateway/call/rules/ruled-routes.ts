import { arrayOf, textOf } from '#outgoing/wire.ts'
import { RouteCandidates, type RouteCandidatesParts } from '../route-candidates.ts'
import type { Need } from '../routes.ts'
import { appliedRules, type RuledCall, ruledModels, ruleNote } from './applied-rules.ts'

/** The routes of a call whose request any of its models understands. */
export interface RuledRoutes {
  /** The model whose answer is stored for later calls: that of a rule, or the requested one. */
  readonly served: string
  readonly candidates: RouteCandidates
}

/** The routes of a call: those of the model that a rule names, then those of `model` and `models`. @throws {StoreUnavailable} */
export const ruledRoutes = async (parts: RouteCandidatesParts, need: Need, call: RuledCall): Promise<RuledRoutes> => {
  const { body, caller } = call
  const rules = await appliedRules(parts.routes, { ...call, content: body })
  const requested = [...new Set([body.model, ...arrayOf(body.models)].map(textOf))]
  const models = ruledModels(call, rules, requested)
  return {
    served: rules.served?.model ?? textOf(body.model),
    candidates: new RouteCandidates(parts, { project: caller.project, need, models, note: ruleNote(rules) }),
  }
}
