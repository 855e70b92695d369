import type { FinishReason, GenerateContentResponse, Part } from '@google/genai'
import { refused, streamBroken } from './failure.ts'
import { ownCallId, packSignature } from './google-wire.ts'
import {
  type ModelAnswer,
  ModelError,
  type ModelRequest,
  type ModelToolCall,
  type ModelUsage,
} from './provider-port.ts'
import { estimateUsage } from './usage.ts'
import { countOf, objectOf } from './wire.ts'

/** Puts one answer together from Google's streamed responses. */
export class GoogleAnswer {
  readonly #request: ModelRequest
  readonly #onDelta: (text: string) => void
  readonly #toolCalls: ModelToolCall[] = []
  #text = ''
  #model: string
  #usage: ModelUsage | undefined
  #finish: string | undefined

  constructor(request: ModelRequest, onDelta: (text: string) => void) {
    this.#request = request
    this.#model = request.model
    this.#onDelta = onDelta
  }

  push(chunk: GenerateContentResponse): void {
    if (chunk.modelVersion !== undefined) this.#model = chunk.modelVersion
    if (chunk.usageMetadata !== undefined) this.#usage = googleUsage(chunk.usageMetadata)
    if (chunk.promptFeedback?.blockReason !== undefined) this.#finish = 'SAFETY'
    const candidate = chunk.candidates?.[0]
    for (const part of candidate?.content?.parts ?? []) this.#part(part)
    if (candidate?.finishReason !== undefined) this.#finish = candidate.finishReason
  }

  /** @throws {AttemptFailed} when the model never said why it stopped, or stopped over a call that nobody can read. */
  finish(): ModelAnswer {
    if (this.#finish === undefined) throw streamBroken()
    if (isBrokenCall(this.#finish)) {
      throw refused(new ModelError('provider_error', 'The model wrote a tool call that cannot be read.'))
    }
    return {
      model: this.#model,
      text: this.#text,
      toolCalls: this.#toolCalls,
      usage: this.#usage ?? estimateUsage(this.#request, this.#text, this.#toolCalls),
      finishReason: this.#finishReason(this.#finish),
    }
  }

  #part(part: Part): void {
    if (part.functionCall !== undefined) this.#call(part)
    else if (part.text !== undefined && part.text !== '' && part.thought !== true) {
      this.#text += part.text
      this.#onDelta(part.text)
    }
  }

  #call({ functionCall, thoughtSignature }: Part): void {
    this.#toolCalls.push({
      callId: functionCall?.id ?? ownCallId(this.#request.idempotencyKey, this.#toolCalls.length),
      name: functionCall?.name ?? '',
      arguments: JSON.stringify(functionCall?.args ?? {}),
      ...(thoughtSignature === undefined ? {} : { opaque: packSignature(this.#request.model, thoughtSignature) }),
    })
  }

  #finishReason(reason: string): ModelAnswer['finishReason'] {
    if (reason === 'MAX_TOKENS') return 'length'
    if (isBlocked(reason)) return 'content_filter'
    return this.#toolCalls.length > 0 ? 'tool_calls' : 'stop'
  }
}

type Reasons = ReadonlySet<`${FinishReason}` | string>

/** The model stopped over a call that nobody can read. */
export const isBrokenCall = (finishReason: string): boolean => brokenCalls.has(finishReason)

/** The provider took the answer back. */
export const isBlocked = (finishReason: string): boolean => blocked.has(finishReason)

const brokenCalls: Reasons = new Set(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'])
const blocked: Reasons = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
])

/** Google counts reasoning beside the answer, and what tools of its own read beside the prompt. */
export function googleUsage(metadata: object): ModelUsage {
  const counts = objectOf(metadata)
  const reasoningTokens = countOf(counts.thoughtsTokenCount)
  return {
    inputTokens: countOf(counts.promptTokenCount) + countOf(counts.toolUsePromptTokenCount),
    outputTokens: countOf(counts.candidatesTokenCount) + reasoningTokens,
    cachedTokens: countOf(counts.cachedContentTokenCount),
    reasoningTokens,
  }
}
