import type { WireFormat } from '#specs/data/providers.ts'
import type { Need, Route } from '../call/routes.ts'
import { anthropic } from './anthropic/anthropic-format.ts'
import type { MessagesService } from './anthropic/messages-service.ts'
import { azure } from './azure/azure-format.ts'
import { bedrock } from './bedrock/bedrock-format.ts'
import { cartesia } from './cartesia/cartesia-voice.ts'
import { deepgram } from './deepgram/deepgram-voice.ts'
import { elevenLabs } from './elevenlabs/elevenlabs-voice.ts'
import { google } from './google/google-provider.ts'
import { openAi } from './openai/openai-format.ts'
import { perplexity } from './perplexity/perplexity-format.ts'
import type { ProviderFormat } from './provider-format.ts'
import { spitch } from './spitch/spitch-voice.ts'
import { vertex } from './vertex/vertex-format.ts'

/** The APIs of providers by wire format (specs/decisions/0081-provider-formats.md). */
export const providerFormats: Readonly<Record<WireFormat, ProviderFormat>> = {
  openai: openAi,
  anthropic,
  google,
  perplexity,
  elevenlabs: elevenLabs,
  deepgram,
  cartesia,
  spitch,
  azure,
  bedrock,
  vertex,
}

/** How requests of a format are authorized. */
export const authorizeOf = (format: WireFormat): ProviderFormat['authorize'] => providerFormats[format].authorize

/** Whether a format supports a need at all. */
export const serves = (format: WireFormat, need: Need | 'realtime'): boolean => offers[need](providerFormats[format])

const offers: Readonly<Record<Need | 'realtime', (format: ProviderFormat) => boolean>> = {
  chat: ({ chat }) => chat !== undefined,
  vision: ({ chat }) => chat !== undefined,
  embedding: ({ embeddings }) => embeddings !== undefined,
  speech: ({ voice }) => voice !== undefined,
  transcription: ({ voice }) => voice !== undefined,
  image: ({ images }) => images !== undefined,
  realtime: ({ realtime }) => realtime !== undefined,
}

/** The service by which a route has its model in Anthropic's Messages API; null for one that is reached by another API. */
export const messagesOf = (route: Route): MessagesService | null =>
  providerFormats[route.format].messages?.(route) ?? null
