import type { ChatFormat, FormatAnswer } from '#gateway/call/chat-format.ts'
import { refused, statusFailure, streamedFailure } from '#gateway/call/failure.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { ChunkWriter } from '#gateway/providers/chunk-writer.ts'
import { EventDecoder } from '#gateway/providers/event-decoder.ts'
import { bearer } from '#gateway/providers/provider-format.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { annotationsOf, endOf, hostedOf, searchOf, UpstreamReader } from './upstream-reader.ts'
import { upstreamRequest } from './upstream-request.ts'

/** OpenAI's Responses API as a chat format, for what its chat completions cannot do, such as web search. */
export const upstreamFormat: ChatFormat = {
  request(body, route, stream) {
    const { model } = route
    return {
      path: '/responses',
      headers: {
        'content-type': 'application/json',
        accept: stream ? 'text/event-stream' : 'application/json',
        ...bearer(route),
      },
      body: encodeJson(upstreamRequest(body, model, stream)),
      answer: (json) => answerOf(json, model),
      decoder: () => new EventDecoder(new UpstreamReader(writerFor(model))),
    }
  },
  failure: statusFailure,
}

const writerFor = (model: string): ChunkWriter => {
  const created = Math.floor(Date.now() / 1000)
  return new ChunkWriter(`chatcmpl-${created}`, model, created)
}

const answerOf = (json: unknown, requestedModel: string): FormatAnswer => {
  if (isObject(json) && isObject(json.error)) throw streamedFailure(json.error)
  if (!isObject(json) || !Array.isArray(json.output)) throw unreadable()
  const message = messageOf(json.output.map(objectOf))
  const end = endOf(json, requestedModel, message.tool_calls !== undefined)
  const { finishReason: finish_reason } = end
  const head = { id: textOf(json.id), object: 'chat.completion', created: json.created_at, model: end.model }
  return { ...end, completion: { ...head, choices: [{ index: 0, message, finish_reason }] } }
}

const messageOf = (output: readonly WireObject[]): WireObject => {
  const parts = output.flatMap((item) => (item.type === 'message' ? arrayOf(item.content).map(objectOf) : []))
  const calls = output.filter(({ type }) => type === 'function_call')
  const tool_calls = calls.map(({ call_id, name, arguments: written }) => ({
    id: call_id,
    type: 'function',
    function: { name, arguments: written },
  }))
  return {
    role: 'assistant',
    content: parts.map(({ text }) => textOf(text)).join(''),
    refusal: parts.map(({ refusal }) => textOf(refusal)).join('') || null,
    annotations: annotationsIn(parts),
    web_searches: output.flatMap((item) => (searchOf(item) === null ? [] : [item])),
    hosted_items: output.flatMap((item) => (hostedOf(item) === null ? [] : [item])),
    ...(tool_calls.length > 0 && { tool_calls }),
  }
}

const annotationsIn = (parts: readonly WireObject[]): readonly unknown[] => {
  let before = 0
  return parts.flatMap(({ text, annotations }) => {
    const made = arrayOf(annotationsOf(arrayOf(annotations), before).annotations)
    before += textOf(text).length
    return made
  })
}

const unreadable = () => refused(new ModelError('provider_error', 'The provider returned an invalid response.'))
