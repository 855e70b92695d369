import type { WireFormat } from '#specs/data/providers.ts'
import type { ChatFormat } from '../call/chat-format.ts'
import { anthropicFormat } from './anthropic/anthropic-format.ts'
import { googleFormat } from './google/google-format.ts'
import { perplexityFormat } from './perplexity/perplexity-format.ts'

/** The chat formats that are translated. OpenAI's own is passed on, and the voice providers do not chat. */
const formats: Readonly<Partial<Record<WireFormat, ChatFormat>>> = {
  anthropic: anthropicFormat(),
  google: googleFormat(),
  perplexity: perplexityFormat(),
}

/** null: nothing is to be translated. */
export const chatFormat = (format: WireFormat): ChatFormat | null => formats[format] ?? null
