import { type Candidate, type CandidateQueue, DerivedCandidates } from '#gateway/call/candidates.ts'
import type { ChatBody } from '#gateway/call/chat-calls.ts'
import { ownRequestField } from '#gateway/providers/anthropic/anthropic-request.ts'
import { messagesOf } from '#gateway/providers/provider-formats.ts'
import { objectOf, textOf } from '#outgoing/wire.ts'

/** Leaves out the routes that do not run a model where the request says, so that no fallback answers from elsewhere. */
export const boundCandidates = (candidates: CandidateQueue<Candidate>, body: ChatBody): CandidateQueue<Candidate> => {
  const place = textOf(objectOf(body[ownRequestField]).inference_geo)
  return place === '' || place === 'global' ? candidates : new BoundCandidates(candidates)
}

class BoundCandidates extends DerivedCandidates<Candidate, Candidate> {
  protected derived(candidate: Candidate | null): Candidate | null | Promise<Candidate | null> {
    if (candidate === null || messagesOf(candidate.route)?.fields.includes('inference_geo') === true) return candidate
    return this.next()
  }
}
