import type { Content, GenerateContentParameters, Part } from '@google/genai'
import { systemText, turnsOf } from './dialogue.ts'
import { priceOf } from './prices.ts'
import { allMessages, type ModelMessage, type ModelRequest, type ModelToolCall } from './provider-port.ts'
import { isObject, parseJson } from './wire.ts'

/** Ids that we made up, because the model gave none; they are not sent back. */
const ownIdPrefix = 'call_own_'
const opaquePrefix = 'google:'

/**
 * Stands for a signature that we do not have (the call was made by another model): Google's documented way to say so.
 * Without it models from the third generation on refuse the history.
 */
const noSignature = 'skip_thought_signature_validator'

/** A request in Google's words. */
export function googleRequest(request: ModelRequest): GenerateContentParameters {
  const system = systemText(allMessages(request))
  const temperature = priceOf(request.model)?.sampling === false ? undefined : request.temperature
  return {
    model: request.model,
    contents: contentsOf(request),
    config: {
      ...(system === '' ? {} : { systemInstruction: system }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(request.maxTokens === undefined ? {} : { maxOutputTokens: request.maxTokens }),
      ...(request.tools.length === 0 ? {} : { tools: [{ functionDeclarations: declarationsOf(request) }] }),
    },
  }
}

/** An id for a call that came without one: the same on every attempt of the same request. */
export const ownCallId = (idempotencyKey: string, place: number): string => `${ownIdPrefix}${idempotencyKey}_${place}`

/** A signature packed to be given back with its call; it is good for the model that made it only. */
export const packSignature = (model: string, signature: string): string => `${opaquePrefix}${model}:${signature}`

const declarationsOf = (request: ModelRequest) =>
  request.tools.map(({ name, description, parameters }) => ({ name, description, parametersJsonSchema: parameters }))

function contentsOf(request: ModelRequest): Content[] {
  const { model } = request
  const turns = turnsOf(allMessages(request), (message) => partsOf(message, model))
  return turns.map(({ side, blocks }) => ({ role: side === 'assistant' ? 'model' : 'user', parts: blocks }))
}

function partsOf(message: ModelMessage, model: string): Part[] {
  if (message.role === 'tool') {
    const id = sentId(message.callId)
    return [{ functionResponse: { ...id, name: message.name, response: responseOf(message.content) } }]
  }
  const text = message.content === '' ? [] : [{ text: message.content }]
  if (message.role !== 'assistant') return text
  return [...text, ...message.toolCalls.map((call, place) => callPart(call, place, model))]
}

function callPart(call: ModelToolCall, place: number, model: string): Part {
  const parsed = parseJson(call.arguments)
  const args = isObject(parsed) ? { ...parsed } : { malformed_arguments: call.arguments }
  return { functionCall: { ...sentId(call.callId), name: call.name, args }, ...signatureOf(call, place, model) }
}

/** Of calls made side by side only the first carries a signature. */
function signatureOf(call: ModelToolCall, place: number, model: string): { thoughtSignature?: string } {
  const own = `${opaquePrefix}${model}:`
  if (call.opaque?.startsWith(own)) return { thoughtSignature: call.opaque.slice(own.length) }
  return place === 0 && !/^gemini-[12]\./.test(model) ? { thoughtSignature: noSignature } : {}
}

const sentId = (callId: string): { id?: string } => (callId.startsWith(ownIdPrefix) ? {} : { id: callId })

function responseOf(content: string): Record<string, unknown> {
  const parsed = parseJson(content)
  return isObject(parsed) ? { ...parsed } : { output: content }
}
