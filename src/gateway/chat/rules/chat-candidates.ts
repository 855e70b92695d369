import { usesOwnModels } from '#gateway/call/caller.ts'
import { type Candidate, type CandidateQueue, mappedCandidates } from '#gateway/call/candidates.ts'
import { conversationName } from '#gateway/call/pools/conversation-name.ts'
import { RouteCandidates, type RouteCandidatesParts } from '#gateway/call/route-candidates.ts'
import { type AppliedRules, appliedRules, noRules, ruledModels, ruleNote } from '#gateway/call/rules/applied-rules.ts'
import { modelsOf } from '../chat-request.ts'
import type { ChatRunRequest } from '../chat-run-request.ts'
import { fittingCandidates } from '../fitting-images.ts'
import { showsImages, visionCandidates, withVision } from '../vision-route.ts'
import { boundCandidates } from './bound-candidates.ts'

/** The rules of a chat; none for one that only some providers can serve. @throws {StoreUnavailable} */
export const chatRules = (
  { routes }: Pick<RouteCandidatesParts, 'routes'>,
  request: ChatRunRequest,
): AppliedRules | Promise<AppliedRules> => {
  if (request.rules !== undefined) return request.rules
  return request.formatFor === undefined ? appliedRules(routes, request) : noRules
}

/** The routes of a chat: those of the model that a rule names, then those of the request. */
export const chatCandidates = (
  parts: RouteCandidatesParts,
  { body, need, caller, textOnly, operation }: ChatRunRequest,
  applied: AppliedRules,
): CandidateQueue<Candidate> => {
  const models = ruledModels({ operation }, applied, modelsOf(body))
  const showsThem = textOnly !== true && showsImages(body)
  const stays = showsThem && usesOwnModels(caller)
  const query = { project: caller.project, models, conversation: () => conversationName(caller, body) }
  const found = new RouteCandidates(parts, { ...query, need: stays ? 'chat' : need, note: ruleNote(applied) })
  if (!showsThem) return boundCandidates(found, body)
  const shown = stays ? visionCandidates(found) : mappedCandidates(found, withVision)
  return boundCandidates(fittingCandidates(shown, body), body)
}
