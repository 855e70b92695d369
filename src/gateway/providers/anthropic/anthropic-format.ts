import type { ChatDecoder, ChatFormat } from '#gateway/call/chat-format.ts'
import { refused, statusFailure, streamedFailure } from '#gateway/call/failure.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import type { Route } from '#gateway/call/routes.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { type AnswerHeads, answerHeads, ChunkWriter } from '../chunk-writer.ts'
import { EventDecoder, type EventReader, wholeAnswer } from '../event-decoder.ts'
import { listIn, type ProviderFormat, usualImages } from '../provider-format.ts'
import { betaHeaders, betasOf } from './anthropic-betas.ts'
import type { AnthropicModel } from './anthropic-model.ts'
import { AnthropicReader, eventsOf } from './anthropic-reader.ts'
import { anthropicRequest } from './anthropic-request.ts'
import { anthropicSdk } from './anthropic-sdk.ts'
import type { MessagesService } from './messages-service.ts'

/**
 * API version that accepts sampling parameters for models that have them; 2026-10-21 rejects them for all models
 * (specs/decisions/0081-provider-formats.md). Compatible servers know this version too.
 */
const version = '2023-06-01'

/** Headers with the API version, and with the key where the route has one. */
const anthropicHeaders: ProviderFormat['headers'] = ({ apiKey }) => ({
  'anthropic-version': version,
  ...(apiKey === null ? {} : { 'x-api-key': apiKey }),
})

/** Where a service has Anthropic's models, and what differs in its requests. */
interface MessagesPlace {
  readonly path: (route: Route, stream: boolean) => string
  readonly headers: ProviderFormat['headers']
  /** The beta features that the place has for a request, of those named; absent: all that are named. */
  readonly betas?: (named: readonly string[], request: WireObject) => readonly string[]
  /** @param betas the beta features of the request; a header has them too, unless the place has frames of its own. */
  readonly body: (request: WireObject, betas: readonly string[]) => WireObject
  /** Absent: the model is known by the name of the route. */
  readonly model?: (route: Route) => { readonly id: string; readonly model: AnthropicModel }
  /** How streams are framed; absent: server-sent events. */
  readonly frames?: { readonly type: string; readonly decoder: (reader: EventReader) => ChatDecoder }
}

const ownPlace: MessagesPlace = { path: () => '/messages', headers: anthropicHeaders, body: (request) => request }

const serverSent: NonNullable<MessagesPlace['frames']> = {
  type: 'text/event-stream',
  decoder: (reader) => new EventDecoder(reader),
}

/** Anthropic's Messages API. */
export const anthropicFormat = (
  { now, newId }: AnswerHeads = answerHeads,
  place: MessagesPlace = ownPlace,
): ChatFormat => ({
  request(body, route, stream) {
    const { id, ...known } = place.model?.(route) ?? { id: route.model }
    const { body: request, answerTool } = anthropicRequest(body, id, { stream, ...known })
    const { type, decoder } = place.frames ?? serverSent
    const named = betasOf(body)
    const betas = place.betas?.(named, request) ?? named
    const reader = (): AnthropicReader =>
      new AnthropicReader(new ChunkWriter(newId(), route.model, Math.floor(now() / 1000)), answerTool)
    return {
      path: place.path(route, stream),
      headers: {
        'content-type': 'application/json',
        accept: stream ? type : 'application/json',
        ...place.headers(route),
        ...(place.frames === undefined && betaHeaders(betas)),
      },
      body: encodeJson(place.body(request, betas)),
      answer(json) {
        if (isObject(json) && json.type === 'error') throw streamedFailure(json.error)
        if (!isObject(json) || !Array.isArray(json.content)) throw unreadable()
        return wholeAnswer(reader(), eventsOf(json))
      },
      decoder: () => decoder(reader()),
    }
  },
  failure: statusFailure,
})

const unreadable = () => refused(new ModelError('provider_error', 'The provider returned an invalid response.'))

const ownMessages: MessagesService = {
  tools: null,
  fields: ['container', 'context_management', 'inference_geo', 'speed'],
  betas: true,
  count: (route) => ({ path: '/messages/count_tokens', headers: anthropicHeaders(route) }),
}

/** Another server with this API, which need not run a model where a request says, nor at its speed. */
const compatibleMessages: MessagesService = { ...ownMessages, fields: ['container', 'context_management'] }

/** Anthropic's API. */
export const anthropic: ProviderFormat = {
  headers: anthropicHeaders,
  version: 'v1',
  chat: anthropicFormat(),
  imageLimits: { ...usualImages, maxBytes: 5 * 1024 * 1024 },
  messages: ({ provider }) => (provider === 'anthropic' ? ownMessages : compatibleMessages),
  sdk: anthropicSdk,
  models: {
    rows: (json) => listIn(objectOf(json).data),
    model: (row) => ({ id: row.id, name: row.display_name, contextWindow: row.max_input_tokens }),
    next: (json) => (objectOf(json).has_more === true ? textOf(objectOf(json).last_id) || null : null),
  },
}
