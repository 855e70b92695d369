import { objectOf, textOf } from '#outgoing/wire.ts'
import { bearer, listIn, type ProviderFormat, usualImages } from '../provider-format.ts'
import { googleEmbeddings } from './google-embeddings.ts'
import { googleFormat, googleHeaders, modelPath } from './google-format.ts'
import { googleImages } from './google-images.ts'
import { googleVoice } from './google-voice.ts'

/** Google's Gemini API. It generates images in its OpenAI-compatible API, which has no edits. */
export const google: ProviderFormat = {
  headers: googleHeaders,
  version: 'v1beta',
  chat: googleFormat(),
  embeddings: googleEmbeddings,
  voice: googleVoice,
  images: (route, given) => {
    if (given === null) return { path: '/openai/images/generations', headers: bearer(route) }
    const target = { path: modelPath(route.model, 'generateContent'), headers: googleHeaders(route) }
    return route.model.startsWith('imagen') ? null : googleImages(target, given)
  },
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
