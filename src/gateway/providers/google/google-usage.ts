import { audioTokens } from '#gateway/call/accounting/openai-usage.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { arrayOf, countOf, objectOf, type WireObject } from '#outgoing/wire.ts'

/** The model stopped over an unreadable call. */
export const isBrokenCall = (finishReason: string): boolean => brokenCalls.has(finishReason)

/** The provider took the answer back. */
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

/** Google counts reasoning beside the answer, and what tools of its own read beside the prompt. */
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

/** Audio among what Google counted; it counts each kind of what it reads and writes. */
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
