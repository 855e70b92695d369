import type { WireFormat } from '#specs/data/providers.ts'
import type { ChatFormat } from '../call/chat-format.ts'
import { anthropicFormat } from './anthropic/anthropic-format.ts'
import { googleFormat } from './google/google-format.ts'
import { perplexityFormat } from './perplexity/perplexity-format.ts'

/** Chat formats that need translation. OpenAI's own is passed through, and voice providers have no chat. */
const formats: Readonly<Partial<Record<WireFormat, ChatFormat>>> = {
  anthropic: anthropicFormat(),
  google: googleFormat(),
  perplexity: perplexityFormat(),
}

/** Returns the translator of a wire format; null when requests are passed through unchanged. */
export const chatFormat = (format: WireFormat): ChatFormat | null => formats[format] ?? null
