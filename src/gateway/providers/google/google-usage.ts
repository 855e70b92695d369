import { audioTokens } from '#gateway/call/accounting/openai-usage.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { arrayOf, countOf, objectOf, type WireObject } from '#outgoing/wire.ts'

/** Whether the model stopped because of an invalid tool call. */
export const isBrokenCall = (finishReason: string): boolean => brokenCalls.has(finishReason)

/** Whether the provider blocked the response. */
export const isBlocked = (finishReason: string): boolean => blocked.has(finishReason)

const brokenCalls: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
])
const blocked: ReadonlySet<string> = new Set([
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

/**
 * Converts Google's usage. Google counts reasoning separately from the output, and input of its own tools separately
 * from the prompt; both are added here.
 */
export function googleUsage(metadata: object): TokenUsage {
  const counts = objectOf(metadata)
  const reasoningTokens = countOf(counts.thoughtsTokenCount)
  return {
    inputTokens: countOf(counts.promptTokenCount) + countOf(counts.toolUsePromptTokenCount),
    outputTokens: countOf(counts.candidatesTokenCount) + reasoningTokens,
    cachedTokens: countOf(counts.cachedContentTokenCount),
    reasoningTokens,
    ...googleAudio(counts),
  }
}

/** Returns the audio tokens of Google's usage, which is broken down by modality. */
export const googleAudio = (counts: WireObject) =>
  audioTokens(
    audioIn(counts.promptTokensDetails),
    audioIn(counts.candidatesTokensDetails),
    audioIn(counts.cacheTokensDetails),
  )

const audioIn = (details: unknown): unknown =>
  arrayOf(details)
    .map(objectOf)
    .find(({ modality }) => modality === 'AUDIO')?.tokenCount
