import { counted, type ReadCount } from '#gateway/call/accounting/counted.ts'
import { audioTokens } from '#gateway/call/accounting/openai-usage.ts'
import { tokensOfChars } from '#gateway/call/accounting/usage.ts'
import type { TokenUsage, Usage } from '#gateway/prices/usage.ts'
import { secondsOf } from '#gateway/providers/voice/timed-text.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'

/** Converts the `usage` of a `response.done`; null when the provider reports none, or an impossible one. */
export const responseUsage = (usage: unknown): TokenUsage | null =>
  isObject(usage) ? counted((count) => tokensOf(usage, count)) : null

const tokensOf = (usage: WireObject, count: ReadCount): TokenUsage => {
  const read = objectOf(usage.input_token_details)
  const written = objectOf(usage.output_token_details)
  const cached = objectOf(read.cached_tokens_details)
  const [imageInputTokens, imageCachedTokens] = [count(read.image_tokens), count(cached.image_tokens)]
  return {
    inputTokens: count(usage.input_tokens),
    outputTokens: count(usage.output_tokens),
    cachedTokens: count(read.cached_tokens),
    reasoningTokens: count(written.reasoning_tokens),
    ...audioTokens(count, read.audio_tokens, written.audio_tokens, cached.audio_tokens),
    ...(imageInputTokens > 0 && { imageInputTokens }),
    ...(imageCachedTokens > 0 && { imageCachedTokens }),
  }
}

/** Converts the usage of a transcript of the input; null when the provider reports none. */
export const transcriptUsage = (usage: unknown): Usage | null => {
  const fields: WireObject = objectOf(usage)
  const seconds = secondsOf(fields.seconds)
  if (fields.type === 'duration') return seconds === null ? null : { seconds }
  if (fields.type !== 'tokens') return null
  const { audio_tokens: audio } = objectOf(fields.input_token_details)
  const tokens = counted((count) => ({
    ...{ inputTokens: count(fields.input_tokens), outputTokens: count(fields.output_tokens) },
    ...{ cachedTokens: 0, reasoningTokens: 0, ...audioTokens(count, audio) },
  }))
  return tokens === null ? null : { tokens }
}

/** More than OpenAI counts for an image of the input. */
const maxImageTokens = 2_048

/** Most tokens of an item of the client, by the length of its texts and the number of its images. */
export const itemTokens = (item: WireObject, chars: number): number => {
  const images = arrayOf(item.content)
    .map((part) => textOf(objectOf(part).image_url))
    .filter((url) => url !== '')
  const shown = images.reduce((sum, { length }) => sum + length, 0)
  return tokensOfChars(Math.max(0, chars - shown)) + images.length * maxImageTokens
}

/** Bytes of base64 of a second of audio: 16-bit samples at 24 kHz. */
const base64BytesOfSecond = 64_000
const heardTokensOfSecond = 10
const spokenTokensOfSecond = 20

/** Bytes of base64 of a second in the smallest format, 8-bit samples at 8 kHz; tokens of a second, as sound and as text. */
const base64BytesMin = 10_000
const transcribedTokensOfSecond = 50

/** Most that the transcripts of audio use, by the length of its base64. */
export const maxTranscribed = (base64Bytes: number): Usage => {
  const seconds = Math.ceil(base64Bytes / base64BytesMin)
  const inputTokens = seconds * transcribedTokensOfSecond
  return { seconds, tokens: { inputTokens, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 } }
}

/** Tokens of audio that the model hears, by the length of its base64. */
export const heardTokens = (base64Bytes: number): number =>
  Math.ceil((base64Bytes / base64BytesOfSecond) * heardTokensOfSecond)

/** Tokens of audio that the model spoke, by the length of its base64. */
export const spokenTokens = (base64Bytes: number): number =>
  Math.ceil((base64Bytes / base64BytesOfSecond) * spokenTokensOfSecond)
