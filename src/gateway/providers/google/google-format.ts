import type { ChatFormat } from '#gateway/call/chat-format.ts'
import { refused, streamedFailure } from '#gateway/call/failure.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { isObject } from '#outgoing/wire.ts'
import { type AnswerHeads, answerHeads, ChunkWriter } from '../chunk-writer.ts'
import { EventDecoder, wholeAnswer } from '../event-decoder.ts'
import type { ProviderFormat } from '../provider-format.ts'
import { googleFailure } from './google-failure.ts'
import { GoogleReader } from './google-reader.ts'
import { googleRequest } from './google-request.ts'

/** The header with the key, where the route has one. */
export const googleHeaders: ProviderFormat['headers'] = ({ apiKey }) =>
  apiKey === null ? {} : { 'x-goog-api-key': apiKey }

/** Where a service has the methods of Google's models. */
interface GooglePlace {
  readonly pathOf: (model: string, method: string) => string
  readonly headersOf: ProviderFormat['headers']
}

/** Google's generateContent API. */
export const googleFormat = (
  { now, newId }: AnswerHeads = answerHeads,
  { pathOf, headersOf }: GooglePlace = { pathOf: modelPath, headersOf: googleHeaders },
): ChatFormat => ({
  request(body, route, stream) {
    const reader = (): GoogleReader =>
      new GoogleReader(new ChunkWriter(newId(), route.model, Math.floor(now() / 1000)), route.model)
    return {
      path: pathOf(route.model, stream ? 'streamGenerateContent?alt=sse' : 'generateContent'),
      headers: {
        'content-type': 'application/json',
        accept: stream ? 'text/event-stream' : 'application/json',
        ...headersOf(route),
      },
      body: encodeJson(googleRequest(body, route.model)),
      answer(json) {
        if (isObject(json) && isObject(json.error)) throw streamedFailure(json.error)
        if (!isObject(json)) throw unreadable()
        return wholeAnswer(reader(), [json])
      },
      decoder: () => new EventDecoder(reader()),
    }
  },
  failure: googleFailure,
})

/**
 * Returns the path of a model's method. Ids are single path segments, except those of tuned models, which include their
 * collection.
 */
export function modelPath(model: string, method: string): string {
  const name = model.startsWith('tunedModels/') ? model : `models/${model}`
  return `/${name.split('/').map(encodeURIComponent).join('/')}:${method}`
}

const unreadable = () => refused(new ModelError('provider_error', 'The provider returned an invalid response.'))
