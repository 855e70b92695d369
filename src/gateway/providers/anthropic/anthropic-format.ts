import type { ChatFormat } from '#gateway/call/chat-format.ts'
import { refused, statusFailure, streamedFailure } from '#gateway/call/failure.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import type { Route } from '#gateway/call/routes.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { isObject } from '#outgoing/wire.ts'
import { type AnswerHeads, answerHeads, ChunkWriter } from '../chunk-writer.ts'
import { EventDecoder, wholeAnswer } from '../event-decoder.ts'
import { betaHeaders } from './anthropic-betas.ts'
import { AnthropicReader, eventsOf } from './anthropic-reader.ts'
import { anthropicRequest } from './anthropic-request.ts'

/**
 * API version that accepts sampling parameters for models that have them; 2026-10-21 rejects them for all models
 * (specs/decisions/0081-provider-formats.md). Compatible servers know this version too.
 */
const version = '2023-06-01'

/** Headers with the API version, and with the key where the route has one. */
export const anthropicHeaders = ({ apiKey }: Pick<Route, 'apiKey'>): Readonly<Record<string, string>> => ({
  'anthropic-version': version,
  ...(apiKey === null ? {} : { 'x-api-key': apiKey }),
})

/** Anthropic's Messages API. */
export const anthropicFormat = ({ now, newId }: AnswerHeads = answerHeads): ChatFormat => ({
  request(body, route, stream) {
    const { body: request, answerTool } = anthropicRequest(body, route.model, stream)
    const reader = (): AnthropicReader =>
      new AnthropicReader(new ChunkWriter(newId(), route.model, Math.floor(now() / 1000)), answerTool)
    return {
      path: '/messages',
      headers: {
        'content-type': 'application/json',
        accept: stream ? 'text/event-stream' : 'application/json',
        ...anthropicHeaders(route),
        ...betaHeaders(body),
      },
      body: encodeJson(request),
      answer(json) {
        if (isObject(json) && json.type === 'error') throw streamedFailure(json.error)
        if (!isObject(json) || !Array.isArray(json.content)) throw unreadable()
        return wholeAnswer(reader(), eventsOf(json))
      },
      decoder: () => new EventDecoder(reader()),
    }
  },
  failure: statusFailure,
})

const unreadable = () => refused(new ModelError('provider_error', 'The provider returned an invalid response.'))
