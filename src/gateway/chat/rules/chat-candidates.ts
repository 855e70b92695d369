import { usesOwnModels } from '#gateway/call/caller.ts'
import { type Candidate, type CandidateQueue, mappedCandidates } from '#gateway/call/candidates.ts'
import { RouteCandidates, type RouteCandidatesParts } from '#gateway/call/route-candidates.ts'
import { modelsOf } from '../chat-request.ts'
import type { ChatRunRequest } from '../chat-run-request.ts'
import { conversationName } from '../conversation-name.ts'
import { showsImages, visionCandidates, withVision } from '../vision-route.ts'
import { type AppliedRules, ruleNote } from './applied-rules.ts'

/** The routes of a chat: those of the model that a rule names, then those of the request. */
export const chatCandidates = (
  parts: RouteCandidatesParts,
  { body, need, caller, textOnly }: ChatRunRequest,
  applied: AppliedRules,
): CandidateQueue<Candidate> => {
  const requested = modelsOf(body)
  const models = applied.served === null ? requested : [...new Set([applied.served.model, ...requested])]
  const showsThem = textOnly !== true && showsImages(body)
  const stays = showsThem && usesOwnModels(caller)
  const query = { project: caller.project, models, conversation: () => conversationName(caller, body) }
  const found = new RouteCandidates(parts, { ...query, need: stays ? 'chat' : need, note: ruleNote(applied) })
  if (stays) return visionCandidates(found)
  return showsThem ? mappedCandidates(found, withVision) : found
}
