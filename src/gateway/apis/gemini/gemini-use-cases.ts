import type { UseCases, UseCasesOf } from '#actors/call/use-cases.ts'
import { estimateTokens } from '#gateway/call/accounting/token-estimate.ts'
import { callerOf } from '#gateway/call/caller.ts'
import type { ChatCall, ChatCalls } from '#gateway/call/chat-calls.ts'
import type { Route, Routes } from '#gateway/call/routes.ts'
import type { EmbeddingCalls, EmbeddingOutcome } from '#gateway/embeddings/embedding-calls.ts'
import { capabilitiesOf } from '#gateway/prices/model-capabilities.ts'
import { encodedAs } from '#gateway/providers/vector-encoding.ts'
import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { ignoredTools, invalid, needOf } from '../chat-parts.ts'
import { ruledRequest } from '../ruled-request.ts'
import { streamedChat } from '../streamed-chat.ts'
import { geminiAnswer } from './gemini-answer.ts'
import { GeminiFrames } from './gemini-frames.ts'
import { camelled } from './gemini-names.ts'
import { type GeminiChat, type GeminiTraits, geminiChat } from './gemini-request.ts'

export interface GeminiParts {
  readonly chat: ChatCalls
  readonly routes: Routes
  readonly embeddings: Pick<EmbeddingCalls, 'create'>
}

type Generation = Parameters<UseCases['gemini.generate']>[0] | Parameters<UseCases['gemini.stream']>[0]

/** Tokens that Google counts for an image of usual size, or a page of a document. */
const tokensAFile = 258

/** Use-cases of Google's Gemini API; those of its models are with the other forms of the registry. */
export const geminiUseCases = (
  parts: GeminiParts,
): Omit<UseCasesOf<'gemini'>, 'gemini.list_models' | 'gemini.get_model'> => ({
  'gemini.generate': async (call) => {
    const { chatCall, request } = await generationOf(parts, call, 'gemini.generate')
    const outcome = await parts.chat.complete(chatCall)
    const headers = [...outcome.headers, ...ignoredTools(request.ignored)]
    return { json: geminiAnswer(outcome, request.showsThoughts), headers }
  },

  'gemini.stream': async (call) => {
    const { chatCall, request } = await generationOf(parts, call, 'gemini.stream')
    const form = new GeminiFrames(call.requestId, request.showsThoughts, ignoredTools(request.ignored))
    return streamedChat(parts.chat, chatCall, { form })
  },

  'gemini.count_tokens': async (call) => {
    const nested = camelled(objectOf(camelled(call.body).generateContentRequest))
    const body = call.body.contents === undefined ? nested : call.body
    const [first] = await parts.routes.resolve(call.scope.project, call.params.model, 'chat')
    const traits = traitsOf(first)
    const { messages } = geminiChat(call.params.model, body, traits).body
    return {
      json: { totalTokens: tokensIn(arrayOf(messages).map(objectOf)) },
      headers: [['x-token-count', 'estimate']],
    }
  },

  'gemini.embed': async (call) => {
    const { vectors, headers } = await embedded(parts, { call, operation: 'gemini.embed', items: [call.body] })
    return { json: { embedding: { values: vectors[0] ?? [] } }, headers }
  },

  'gemini.embed_batch': async (call) => {
    const order = { call, operation: 'gemini.embed_batch', items: call.body.requests }
    const { vectors, headers } = await embedded(parts, order)
    return { json: { embeddings: vectors.map((values) => ({ values })) }, headers }
  },
})

const traitsOf = (first: Route | undefined): GeminiTraits => {
  if (first === undefined) return { own: false, reasons: true }
  return {
    own: isOfGoogle(first),
    reasons: capabilitiesOf(first.provider, first.model)?.includes('reasoning') !== false,
  }
}

const isOfGoogle = ({ format, model }: Route): boolean =>
  format === 'google' || (format === 'vertex' && !model.startsWith('claude'))

const generationOf = async (
  parts: GeminiParts,
  call: Generation,
  operation: 'gemini.generate' | 'gemini.stream',
): Promise<{ readonly chatCall: ChatCall; readonly request: GeminiChat }> => {
  const caller = callerOf(call)
  const { model } = call.params
  const { request, rules } = await ruledRequest(parts.routes, {
    ...{ caller, operation, model, traitsOf },
    convert: (traits) => geminiChat(model, call.body, traits),
  })
  const { body } = request
  const need = needOf(arrayOf(body.messages))
  return { chatCall: { caller, operation, need, body, signal: call.signal, rules }, request }
}

const tokensIn = (messages: readonly WireObject[]): number => {
  const parts = messages.flatMap(({ content }) => arrayOf(content).map(objectOf))
  const texts = [
    ...messages.flatMap(({ content, tool_calls }) => [textOf(content), tool_calls ? JSON.stringify(tool_calls) : '']),
    ...parts.map(({ text }) => textOf(text)),
  ]
  return estimateTokens(texts) + parts.filter(({ type }) => type !== 'text').length * tokensAFile
}

type EmbedCall = Parameters<UseCases['gemini.embed']>[0] | Parameters<UseCases['gemini.embed_batch']>[0]

interface EmbedOrder {
  readonly call: EmbedCall
  readonly operation: string
  readonly items: readonly WireObject[]
}

/** Embeds contents; all of a batch have the size that the first names. */
const embedded = async (
  { embeddings, routes }: GeminiParts,
  { call, operation, items }: EmbedOrder,
): Promise<{ readonly vectors: readonly (readonly number[])[] } & Pick<EmbeddingOutcome, 'headers'>> => {
  const caller = callerOf(call)
  // an unknown model is refused before what is wrong with the contents
  await routes.resolve(caller.project, call.params.model, 'embedding')
  const all = items.map(camelled)
  const { vectors, headers } = await embeddings.create({
    ...{ caller, operation, bytes: null, signal: call.signal },
    body: {
      model: call.params.model,
      input: all.map(({ content }, at) => textIn(objectOf(content), items.length === 1 ? '' : `requests[${at}].`)),
      ...(typeof all[0]?.outputDimensionality === 'number' && { dimensions: all[0].outputDimensionality }),
    },
  })
  return { vectors: vectors.map((vector) => numbersOf(encodedAs('float', vector))), headers }
}

const numbersOf = (vector: string | readonly number[]): readonly number[] => (typeof vector === 'string' ? [] : vector)

const textIn = (content: WireObject, at: string): string => {
  const texts = arrayOf(content.parts).map((part) => objectOf(part).text)
  const other = texts.findIndex((text) => typeof text !== 'string')
  if (texts.length === 0 || other >= 0)
    throw invalid(`${at}content.parts[${Math.max(0, other)}].text`, 'must be string')
  return texts.map(textOf).join('\n')
}
