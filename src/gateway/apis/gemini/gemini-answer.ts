import { costField } from '#gateway/call/accounting/shown-cost.ts'
import type { ChatOutcome, ChatSummary } from '#gateway/call/chat-calls.ts'
import type { StreamedCall } from '#gateway/call/streaming/streamed-calls.ts'
import { arrayOf, countOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import type { ResultOf } from '#specs/index.ts'
import { groundingOf } from './gemini-grounding.ts'

/** A whole answer of Google's API, or a part of a streamed one. */
export type GeminiAnswer = ResultOf<'gemini.generate'>
type Candidate = GeminiAnswer['candidates'][number]
type Part = Candidate['content']['parts'][number]

const finishReasons: Readonly<Record<string, string>> = { length: 'MAX_TOKENS', content_filter: 'SAFETY' }

/** Why an answer ended, in Google's words: a call of a function is `STOP` there. */
export const finishOf = (reason: unknown): string => finishReasons[textOf(reason)] ?? 'STOP'

/** One candidate, or its next part. */
export const candidateOf = (index: number, parts: readonly Part[], finishReason?: string): Candidate => ({
  content: { role: 'model', parts },
  ...(finishReason !== undefined && { finishReason }),
  index,
})

/** Converts a call of a chat completion to a part. */
export const callPart = ({ id, name, arguments: text }: StreamedCall) => {
  const parsed = parseJson(text)
  return { functionCall: { ...(id !== '' && { id }), name, args: isObject(parsed) ? parsed : {} } }
}

/** Usage as Google reports it: thoughts are counted beside the candidates' tokens. */
export const usageMetadataOf = ({ usage, costUsd }: ChatSummary): NonNullable<GeminiAnswer['usageMetadata']> => ({
  promptTokenCount: usage.inputTokens,
  candidatesTokenCount: Math.max(0, usage.outputTokens - usage.reasoningTokens),
  totalTokenCount: usage.inputTokens + usage.outputTokens,
  ...(usage.reasoningTokens > 0 && { thoughtsTokenCount: usage.reasoningTokens }),
  ...(usage.cachedTokens > 0 && { cachedContentTokenCount: usage.cachedTokens }),
  ...costField(costUsd),
})

/** Converts a non-streamed answer. */
export const geminiAnswer = (outcome: ChatOutcome, showsThoughts: boolean): GeminiAnswer => ({
  candidates: arrayOf(outcome.completion.choices).map((choice, at) => {
    const { message, finish_reason, index } = objectOf(choice)
    const parts = partsOf(objectOf(message), showsThoughts)
    const candidate = candidateOf(typeof index === 'number' ? countOf(index) : at, parts, finishOf(finish_reason))
    return { ...candidate, ...groundingOf(textOf(objectOf(message).content), objectOf(message)) }
  }),
  usageMetadata: usageMetadataOf(outcome),
  modelVersion: outcome.model,
  responseId: textOf(outcome.completion.id),
})

const partsOf = (message: WireObject, showsThoughts: boolean): readonly Part[] => [
  ...textPartsOf(message, showsThoughts),
  ...arrayOf(message.tool_calls).map((call) => {
    const { id, function: called } = objectOf(call)
    const { name, arguments: text } = objectOf(called)
    return callPart({ id: textOf(id), name: textOf(name), arguments: textOf(text) })
  }),
]

/** Parts of the thoughts and the text of a message, or of the next piece of one. */
export const textPartsOf = (message: WireObject, showsThoughts: boolean): readonly Part[] => {
  const thought = textOf(message.reasoning_content) || textOf(message.reasoning)
  const text = textOf(message.content) + textOf(message.refusal)
  return [
    ...(thought !== '' && showsThoughts ? [{ text: thought, thought: true }] : []),
    ...(text === '' ? [] : [{ text }]),
  ]
}
