import { counted, type ReadCount } from '#gateway/call/accounting/counted.ts'
import { audioTokens } from '#gateway/call/accounting/openai-usage.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { arrayOf, objectOf, type WireObject } from '#outgoing/wire.ts'

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
export function googleUsage(metadata: object): TokenUsage | null {
  const counts = objectOf(metadata)
  return counted((count) => {
    const reasoningTokens = count(counts.thoughtsTokenCount)
    return {
      inputTokens: count(counts.promptTokenCount) + count(counts.toolUsePromptTokenCount),
      outputTokens: count(counts.candidatesTokenCount) + reasoningTokens,
      cachedTokens: count(counts.cachedContentTokenCount),
      reasoningTokens,
      ...googleAudio(counts, count),
    }
  })
}

/** Returns the audio tokens of Google's usage, which is broken down by modality. */
const googleAudio = (counts: WireObject, count: ReadCount) =>
  audioTokens(
    count,
    audioIn(counts.promptTokensDetails),
    audioIn(counts.candidatesTokensDetails),
    audioIn(counts.cacheTokensDetails),
  )

const audioIn = (details: unknown): unknown =>
  arrayOf(details)
    .map(objectOf)
    .find(({ modality }) => modality === 'AUDIO')?.tokenCount
