import type { ChatFormat, FormatAnswer } from '#gateway/call/chat-format.ts'
import { refused, statusFailure, streamedFailure } from '#gateway/call/failure.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { isObject } from '#outgoing/wire.ts'
import { type AnswerHeads, answerHeads, ChunkWriter } from '../chunk-writer.ts'
import { EventDecoder, wholeAnswer } from '../event-decoder.ts'
import { openAiEmbeddings } from '../openai/openai-embeddings.ts'
import { portableBody } from '../portable-body.ts'
import { bearer, type ProviderFormat } from '../provider-format.ts'
import { PerplexityReader } from './perplexity-reader.ts'
import { perplexityRequest } from './perplexity-request.ts'

/** Perplexity's Agent API, the successor of its chat completions (specs/decisions/0081-provider-formats.md). */
export const perplexityFormat = ({ now, newId }: AnswerHeads = answerHeads): ChatFormat => ({
  request(body, route, stream) {
    const reader = (): PerplexityReader =>
      new PerplexityReader(new ChunkWriter(newId(), route.model, Math.floor(now() / 1000)))
    return {
      path: '/responses',
      headers: {
        'content-type': 'application/json',
        accept: stream ? 'text/event-stream' : 'application/json',
        ...bearer(route),
      },
      body: encodeJson(perplexityRequest(portableBody(body, route), route.model, stream)),
      answer: (json) => answerBy(reader(), json),
      decoder: () => new EventDecoder(reader()),
    }
  },
  failure: statusFailure,
})

const answerBy = (reader: PerplexityReader, json: unknown): FormatAnswer => {
  if (isObject(json) && isObject(json.error)) throw streamedFailure(json.error)
  if (!isObject(json) || !Array.isArray(json.output)) throw unreadable()
  return wholeAnswer(reader, [{ type: 'response.completed', response: json }])
}

const unreadable = () => refused(new ModelError('provider_error', 'The provider returned an invalid response.'))

/** Perplexity's API. It has no list of models. */
export const perplexity: ProviderFormat = {
  headers: bearer,
  version: 'v1',
  chat: perplexityFormat(),
  embeddings: openAiEmbeddings,
  keyCheck: { post: '/responses' },
}
