import { countOf, objectOf, type WireObject } from '#outgoing/wire.ts'
import { bearer, listIn, type ProviderFormat, usualImages } from '../provider-format.ts'
import { openAiEmbeddings } from './openai-embeddings.ts'
import { openAiImages } from './openai-images.ts'
import { openAiSdk } from './openai-sdk.ts'
import { openAiVoice } from './openai-voice.ts'

/** OpenAI's API, which Groq, the simulated provider and many others implement. */
export const openAi: ProviderFormat = {
  headers: bearer,
  realtime: { path: (model) => `/realtime?model=${encodeURIComponent(model)}` },
  chat: null,
  embeddings: openAiEmbeddings,
  voice: openAiVoice,
  images: openAiImages({ pathOf: (_, operation) => operation, headersOf: bearer }),
  imageLimits: usualImages,
  sdk: openAiSdk,
  models: {
    // some servers return the bare list
    rows: (json) => listIn(json) ?? listIn(objectOf(json).data),
    model: (row) => ({ id: row.id, name: row.name ?? row.display_name, contextWindow: contextOf(row) }),
  },
  keyCheck: { post: '/chat/completions' },
}

const contextOf = (row: WireObject): number | undefined =>
  [row.context_window, row.context_length, row.max_context_length, row.max_model_len, objectOf(row.meta).n_ctx_train]
    .map(countOf)
    .find(Boolean)
