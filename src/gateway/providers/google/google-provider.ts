import { objectOf, textOf } from '#outgoing/wire.ts'
import { bearer, listIn, type ProviderFormat, usualImages } from '../provider-format.ts'
import { googleEmbeddings } from './google-embeddings.ts'
import { googleFormat, googleHeaders } from './google-format.ts'
import { googleVoice } from './google-voice.ts'

/** Google's Gemini API. It offers images in its OpenAI-compatible API. */
export const google: ProviderFormat = {
  headers: googleHeaders,
  version: 'v1beta',
  chat: googleFormat(),
  embeddings: googleEmbeddings,
  voice: googleVoice,
  images: (route) => ({ path: '/openai/images/generations', headers: bearer(route) }),
  imageLimits: { ...usualImages, types: [...usualImages.types, 'image/heic', 'image/heif'], fetches: false },
  models: {
    path: (after) => `/models?pageSize=1000${after === null ? '' : `&pageToken=${encodeURIComponent(after)}`}`,
    rows: (json) => listIn(objectOf(json).models),
    model: (row) => ({
      id: textOf(row.name).replace(/^models\//, ''),
      name: row.displayName,
      contextWindow: row.inputTokenLimit,
    }),
    next: (json) => textOf(objectOf(json).nextPageToken) || null,
  },
}
