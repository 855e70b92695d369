import type { ChatFormat, FormatRequest } from '#gateway/call/chat-format.ts'
import { refused } from '#gateway/call/failure.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import type { Route } from '#gateway/call/routes.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { anthropicFormat } from '../anthropic/anthropic-format.ts'
import { cloudBetas, cloudBody } from '../anthropic/cloud-messages.ts'
import type { AnswerHeads } from '../chunk-writer.ts'
import { completionIn } from '../openai/openai-answer.ts'
import { portableBody } from '../portable-body.ts'
import type { ProviderFormat } from '../provider-format.ts'
import { bedrockClaude, claudeEvent, isClaude, plainModel } from './claude-on-bedrock.ts'
import { FrameDecoder, vendorEvent } from './frame-decoder.ts'
import { OpenAiEvents } from './openai-events.ts'

interface InvokeParts {
  readonly heads: AnswerHeads
  readonly headers: ProviderFormat['headers']
}

/**
 * Chats by InvokeModel, whose body is that of the model's vendor: Anthropic's, and OpenAI's chat completions for its
 * models and for imported ones.
 */
export const invokeRequest = ({ heads, headers }: InvokeParts): ChatFormat['request'] => {
  const claude = anthropicFormat(heads, {
    path: invokePath,
    headers,
    model: plainModel,
    betas: (named, request) => cloudBetas(bedrockClaude, named, request),
    body: claudeBody,
    frames: { type: streamType, decoder: (reader) => new FrameDecoder(reader, claudeEvent) },
  })
  return (body, route, stream) => {
    if (isClaude(route.model)) return claude.request(body, route, stream)
    if (!/(?:^|[./])openai\.|:imported-model\//.test(route.model)) throw unknownBody()
    const accept = stream ? streamType : 'application/json'
    return {
      path: invokePath(route, stream),
      headers: { 'content-type': 'application/json', accept, ...headers(route) },
      body: encodeJson(openAiFields(portableBody(body, route))),
      answer: completionIn,
      decoder: () => new FrameDecoder(new OpenAiEvents(), vendorEvent),
    } satisfies FormatRequest
  }
}

export const streamType = 'application/vnd.amazon.eventstream'

const invokePath = ({ model }: Route, stream: boolean): string =>
  `/model/${encodeURIComponent(model)}/invoke${stream ? '-with-response-stream' : ''}`

const without = (body: WireObject, names: readonly string[]): WireObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))

const claudeBody = (request: WireObject, betas: readonly string[]): WireObject => ({
  ...cloudBody(request, bedrockClaude),
  ...(betas.length > 0 && { anthropic_beta: betas }),
})

const openAiFields = ({ max_tokens, max_completion_tokens = max_tokens, ...body }: WireObject): WireObject => ({
  ...without(body, ['model', 'models', 'memory', 'stream', 'stream_options']),
  ...(max_completion_tokens !== undefined && { max_completion_tokens }),
})

const unknownBody = () =>
  refused(new ModelError('model_not_found', "The bodies of this model's vendor for InvokeModel are not served."))
