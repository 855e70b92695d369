import { arrayOf, isObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { type Candidate, type CandidateQueue, DerivedCandidates } from '../call/candidates.ts'
import type { ChatBody } from '../call/chat-calls.ts'
import type { Route } from '../call/routes.ts'
import { capabilitiesOf, visionModelOf } from '../prices/model-capabilities.ts'

const upgrades = new WeakMap<Route, Route>()

/** Whether a request contains images. */
export const showsImages = ({ messages }: ChatBody): boolean =>
  arrayOf(messages).some(
    (message) => isObject(message) && Array.isArray(message.content) && message.content.some(isImage),
  )

/**
 * Returns the route for a request with images (`chat_completions.create`): one to another model of the same provider
 * when the requested model is known not to accept images. An unknown model is assumed to accept them.
 */
const visionRoute = (route: Route): Route => {
  const known = upgrades.get(route)
  if (known !== undefined) return known
  const capabilities = capabilitiesOf(route.provider, route.model)
  const model = capabilities === null || capabilities.includes('vision') ? null : visionModelOf(route.provider)
  const made = model === null ? route : Object.freeze({ ...route, model })
  upgrades.set(route, made)
  return made
}

/** The candidate for a request with images, rerouted where needed. */
export const withVision = (candidate: Candidate): Candidate => ({ ...candidate, route: visionRoute(candidate.route) })

/**
 * Restricts the ways to models that accept images themselves, so that images never lead to a model that was not named:
 * an agent's public key may use only the models of its agent.
 */
export const visionCandidates = (candidates: CandidateQueue<Candidate>): CandidateQueue<Candidate> =>
  new VisionCandidates(candidates)

class VisionCandidates extends DerivedCandidates<Candidate, Candidate> {
  #seen = false

  protected derived(candidate: Candidate | null): Candidate | null | Promise<Candidate | null> {
    if (candidate === null && !this.#seen)
      throw new ServiceError('secret_key_required', { param: 'messages', message: noneSees })
    if (candidate !== null && visionRoute(candidate.route) !== candidate.route) return this.next()
    this.#seen = true
    return candidate
  }
}

const noneSees = 'No model of the agent accepts images, and a public key can use only the models of its agent.'

const isImage = (part: unknown): boolean => isObject(part) && part.type === 'image_url'
