import type { ChatSummary } from '#gateway/call/chat-calls.ts'
import { StreamedCalls } from '#gateway/call/streaming/streamed-calls.ts'
import { StreamedCitations } from '#gateway/call/streaming/streamed-citations.ts'
import { arrayOf, countOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { newId } from '#runtime/index.ts'
import type { ServiceError } from '#specs/errors/errors.ts'
import { googleError } from '#specs/errors/google-errors.ts'
import type { StreamForm } from '../streamed-chat.ts'
import { callPart, candidateOf, finishOf, type GeminiAnswer, textPartsOf, usageMetadataOf } from './gemini-answer.ts'
import { groundingOf } from './gemini-grounding.ts'

interface Candidate {
  readonly calls: StreamedCalls
  readonly cited: StreamedCitations
  text: string
  finish: unknown
}

/** More than any model makes at once: a higher index is ignored as invalid. */
const maxCandidates = 64

/** Writes the parts of a streamed answer in Google's form. Function calls are whole there, so they come last. */
export class GeminiFrames implements StreamForm {
  readonly headers: NonNullable<StreamForm['headers']>
  readonly #requestId: string
  readonly #showsThoughts: boolean
  readonly #candidates = new Map<number, Candidate>()
  readonly #responseId = newId('resp')
  #model = ''

  constructor(requestId: string, showsThoughts: boolean, headers: NonNullable<StreamForm['headers']>) {
    this.#requestId = requestId
    this.#showsThoughts = showsThoughts
    this.headers = headers
  }

  chunk(chunk: WireObject): string {
    this.#model ||= textOf(chunk.model)
    const candidates = arrayOf(chunk.choices).flatMap((each, at) => this.#choice(objectOf(each), at))
    return candidates.length === 0 ? '' : this.#frame({ candidates })
  }

  end(summary: ChatSummary): string {
    this.#model ||= summary.model
    const ended = this.#candidates.size === 0 ? [[0, newCandidate()] as const] : [...this.#candidates]
    const candidates = ended.map(([index, { calls, finish, text, cited }]) => ({
      ...candidateOf(index, calls.all.map(callPart), finishOf(finish ?? summary.finishReason)),
      ...groundingOf(text, cited),
    }))
    return this.#frame({ candidates, usageMetadata: usageMetadataOf(summary) })
  }

  fail(error: ServiceError): string {
    return `data: ${JSON.stringify(googleError(error, this.#requestId))}\n\n`
  }

  #choice({ index: given, delta: fields, finish_reason }: WireObject, at: number): GeminiAnswer['candidates'] {
    const index = typeof given === 'number' ? countOf(given) : at
    if (index >= maxCandidates) return []
    const candidate = this.#candidates.get(index) ?? newCandidate()
    this.#candidates.set(index, candidate)
    candidate.finish = finish_reason ?? candidate.finish
    const delta = objectOf(fields)
    candidate.text += textOf(delta.content)
    candidate.cited.add(delta)
    candidate.calls.add(delta.tool_calls)
    const parts = textPartsOf(delta, this.#showsThoughts)
    return parts.length === 0 ? [] : [candidateOf(index, parts)]
  }

  #frame(part: Pick<GeminiAnswer, 'candidates' | 'usageMetadata'>): string {
    const answer: GeminiAnswer = { ...part, modelVersion: this.#model, responseId: this.#responseId }
    return `data: ${JSON.stringify(answer)}\n\n`
  }
}

const newCandidate = (): Candidate => ({
  calls: new StreamedCalls(),
  cited: new StreamedCitations(),
  text: '',
  finish: null,
})
