import type { AnswerEnd } from '#gateway/call/chat-format.ts'
import { type AttemptFailed, refused, streamBroken, streamedFailure } from '#gateway/call/failure.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { ChunkWriter } from '../chunk-writer.ts'
import type { EventReader } from '../event-decoder.ts'
import { idWithSignature } from '../tool-call-id.ts'
import { ownIdPrefix } from './google-contents.ts'
import { Grounding } from './google-grounding.ts'
import { googleUsage, isBlocked, isBrokenCall } from './google-usage.ts'

/** One of several alternative answers in a response. */
interface Candidate {
  calls: number
  finish: string | null
  readonly grounding: Grounding
}

/**
 * Reads Google's streamed responses. The format has no end marker: a response is complete when the connection ends
 * after every candidate has given a finish reason.
 */
export class GoogleReader implements EventReader {
  readonly done = false
  readonly #chunks: ChunkWriter
  /** The requested model, to which signatures are bound. */
  readonly #model: string
  readonly #candidates = new Map<number, Candidate>()
  #usage: TokenUsage | null = null
  #begun = false

  constructor(chunks: ChunkWriter, model: string) {
    this.#chunks = chunks
    this.#model = model
  }

  read(event: WireObject): readonly WireObject[] {
    if (isObject(event.error)) throw streamedFailure(event.error)
    if (!this.#begun) this.#begin(event)
    if (isObject(event.usageMetadata)) this.#usage = googleUsage(event.usageMetadata)
    const blocked = textOf(objectOf(event.promptFeedback).blockReason) !== ''
    const candidates = blocked ? [{ finishReason: 'SAFETY' }] : arrayOf(event.candidates)
    return candidates.flatMap((candidate, place) => this.#candidate(objectOf(candidate), place))
  }

  finish(): { readonly chunks: readonly WireObject[]; readonly end: AnswerEnd } {
    const reasons = [...this.#candidates].map(([index, candidate]) => [index, reasonOf(candidate)] as const)
    const [first] = reasons
    if (first === undefined) throw streamBroken()
    const cited = [...this.#candidates].flatMap(([index, { grounding }]) => {
      const delta = grounding.delta()
      return delta === null ? [] : [this.#chunks.delta(delta, index)]
    })
    const chunks = [...cited, ...reasons.map(([index, reason]) => this.#chunks.finish(reason, index))]
    const usage = this.#usageWithSearches()
    if (usage !== null) chunks.push(this.#chunks.usage(usage))
    return { chunks, end: { model: this.#chunks.model, usage, finishReason: first[1] } }
  }

  /** Google's usage has no searches: an answer says what was searched for. */
  #usageWithSearches(): TokenUsage | null {
    const searches = [...this.#candidates.values()].reduce((sum, { grounding }) => sum + grounding.searches, 0)
    return this.#usage === null || searches === 0 ? this.#usage : { ...this.#usage, searches }
  }

  #begin(event: WireObject): void {
    this.#begun = true
    if (textOf(event.responseId) !== '') this.#chunks.id = textOf(event.responseId)
    if (textOf(event.modelVersion) !== '') this.#chunks.model = textOf(event.modelVersion)
  }

  #candidate(fields: WireObject, place: number): readonly WireObject[] {
    const index = typeof fields.index === 'number' ? fields.index : place
    const known = this.#candidates.get(index)
    const candidate = known ?? { calls: 0, finish: null, grounding: new Grounding() }
    this.#candidates.set(index, candidate)
    const begin = known === undefined ? [this.#chunks.delta({ role: 'assistant', content: '' }, index)] : []
    const parts = arrayOf(objectOf(fields.content).parts).map(objectOf)
    candidate.grounding.add(parts, fields.groundingMetadata)
    const deltas = parts.flatMap((part) => this.#part(part, candidate))
    if (textOf(fields.finishReason) !== '') candidate.finish = textOf(fields.finishReason)
    return [...begin, ...deltas.map((delta) => this.#chunks.delta(delta, index))]
  }

  #part(part: WireObject, candidate: Candidate): readonly WireObject[] {
    if (isObject(part.functionCall)) return [this.#call(part.functionCall, textOf(part.thoughtSignature), candidate)]
    const text = textOf(part.text)
    if (text !== '') return [part.thought === true ? { reasoning_content: text } : { content: text }]
    return isObject(part.inlineData) ? [{ images: [imageOf(part.inlineData)] }] : []
  }

  /** Calls are not streamed in pieces. A call without an id is given a random one. */
  #call(call: WireObject, signature: string, candidate: Candidate): WireObject {
    const index = candidate.calls++
    const given = textOf(call.id)
    const id = given === '' ? `${ownIdPrefix}${crypto.randomUUID().replaceAll('-', '')}` : given
    const named = { name: textOf(call.name), arguments: JSON.stringify(objectOf(call.args)) }
    const signed = signature === '' ? id : idWithSignature(id, this.#model, signature)
    return { tool_calls: [{ index, id: signed, type: 'function', function: named }] }
  }
}

const imageOf = ({ mimeType, data }: WireObject): WireObject => ({
  type: 'image_url',
  image_url: { url: `data:${textOf(mimeType)};base64,${textOf(data)}` },
})

/** @throws {AttemptFailed} when the response is incomplete, or ended with an invalid tool call. */
function reasonOf({ calls, finish }: Candidate): string {
  if (finish === null) throw streamBroken()
  if (isBrokenCall(finish)) throw unreadableCall()
  if (finish === 'MAX_TOKENS') return 'length'
  if (isBlocked(finish)) return 'content_filter'
  return calls > 0 ? 'tool_calls' : 'stop'
}

const unreadableCall = (): AttemptFailed =>
  refused(new ModelError('provider_error', 'The model generated an invalid tool call.'))
