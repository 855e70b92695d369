import type { Routes } from '../call/routes.ts'
import { appliedRules, ruleNote } from '../call/rules/applied-rules.ts'
import { orNull } from './route-choice.ts'
import type { VoiceCall, VoicePlan } from './voice-job.ts'
import type { Planner } from './voice-planner.ts'

/** Dependencies of {ruledPlan}. */
export interface RuledPlanParts<Request, Task> {
  readonly planner: Planner<Request, Task>
  readonly routes: Pick<Routes, 'rules'>
}

/**
 * The plan of a call by the rules of its project: the steps of a rule's model, then those of the requested one.
 *
 * @param operation under which the rules judge it, also where a realtime session makes the call.
 * @throws {ServiceError} that of the requested model, when neither can be planned.
 */
export const ruledPlan = async <Request extends object, Task>(
  { planner, routes }: RuledPlanParts<Request, Task>,
  { caller, model, request }: VoiceCall<Request>,
  operation: string,
): Promise<VoicePlan<Task>> => {
  const rules = await appliedRules(routes, { caller, operation, body: { model: model ?? '' }, content: request })
  const { served } = rules
  const planned = (named: string | null) => planner.plan(caller.project, named, request)
  const ruled = served === null ? null : await orNull(planned(served.model))
  if (served === null || ruled === null) return planned(model)
  const own = model === null || model === served.model ? null : await orNull(planned(model))
  return {
    requestedModel: model ?? ruled.requestedModel,
    auto: false,
    steps: own?.steps ?? [],
    ruled: { model: served.model, note: ruleNote(rules), steps: ruled.steps },
  }
}
