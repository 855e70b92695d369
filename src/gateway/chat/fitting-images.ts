import { arrayOf, objectOf, textOf } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { type Candidate, type CandidateQueue, DerivedCandidates } from '../call/candidates.ts'
import type { ChatBody } from '../call/chat-calls.ts'
import type { Route, Routes } from '../call/routes.ts'
import { usualImages } from '../providers/provider-format.ts'
import { providerFormats } from '../providers/provider-formats.ts'
import { checkSize } from '../vision/image-check.ts'

/** Most bytes of an image that a route takes. A server with OpenAI's format checks its own limit, which is not known. */
const limitOf = ({ format }: Pick<Route, 'format'>): number => {
  const { chat, imageLimits } = providerFormats[format]
  return chat === undefined || chat === null ? Number.POSITIVE_INFINITY : (imageLimits ?? usualImages).maxBytes
}

/** Most bytes of an image that some route of a model takes; those of the usual limit if it has no route. */
export const largestImage = async (routes: Routes, project: string, model: string): Promise<number> => {
  try {
    return Math.min(usualImages.maxBytes, Math.max(...(await routes.resolve(project, model, 'vision')).map(limitOf)))
  } catch (error) {
    // the call itself is refused
    if (error instanceof ServiceError) return usualImages.maxBytes
    throw error
  }
}

/** Leaves out the routes whose provider takes no image as large as the largest of a request. */
export const fittingCandidates = (
  candidates: CandidateQueue<Candidate>,
  { messages }: ChatBody,
): CandidateQueue<Candidate> => new FittingCandidates(candidates, largestIn(messages))

interface SentImage {
  readonly bytes: number
  readonly at: string
}

class FittingCandidates extends DerivedCandidates<Candidate, Candidate> {
  readonly #largest: SentImage
  #fits = false
  #refusal: ServiceError | null = null

  constructor(candidates: CandidateQueue<Candidate>, largest: SentImage) {
    super(candidates)
    this.#largest = largest
  }

  protected derived(candidate: Candidate | null): Candidate | null | Promise<Candidate | null> {
    if (candidate === null && !this.#fits && this.#refusal !== null) throw this.#refusal
    if (candidate !== null && !this.#takes(candidate.route)) return this.next()
    this.#fits = true
    return candidate
  }

  #takes(route: Route): boolean {
    try {
      checkSize(this.#largest.bytes, { maxBytes: limitOf(route) }, this.#largest.at)
      return true
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      this.#refusal ??= error
      return false
    }
  }
}

const largestIn = (messages: unknown): SentImage => {
  let largest = { bytes: 0, at: '' }
  for (const [place, message] of arrayOf(messages).entries())
    for (const [index, part] of arrayOf(objectOf(message).content).entries()) {
      const given = objectOf(part).image_url
      const url = textOf(given) || textOf(objectOf(given).url)
      const bytes = url.startsWith('data:') ? Buffer.byteLength(url.slice(url.indexOf(',') + 1), 'base64') : 0
      if (bytes > largest.bytes) largest = { bytes, at: `messages[${place}].content[${index}].image_url.url` }
    }
  return largest
}
