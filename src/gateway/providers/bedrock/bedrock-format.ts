import type { AuthorizedRoute } from '#gateway/call/authorization/authorization.ts'
import type { ChatFormat } from '#gateway/call/chat-format.ts'
import { type AttemptFailed, type ErrorAnswer, statusFailure, streamBroken } from '#gateway/call/failure.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { arrayOf, isObject, objectOf, parseJson, textOf } from '#outgoing/wire.ts'
import { anthropicRequest } from '../anthropic/anthropic-request.ts'
import { markedAtEnd } from '../anthropic/cloud-messages.ts'
import { type AnswerHeads, answerHeads, ChunkWriter } from '../chunk-writer.ts'
import { wholeAnswer } from '../event-decoder.ts'
import { bearer, listIn, type ProviderFormat, usualImages } from '../provider-format.ts'
import { bedrockEmbeddings, isBedrockEmbedder } from './bedrock-embeddings.ts'
import { bedrockImages, isBedrockImager } from './bedrock-images.ts'
import { bedrockMessages, operationOf, plainModel } from './claude-on-bedrock.ts'
import { ConverseReader, converseEvents } from './converse-reader.ts'
import { converseRequest } from './converse-request.ts'
import { converseEvent, FrameDecoder } from './frame-decoder.ts'
import { invokeRequest, streamType } from './invoke-format.ts'
import { signatureHeaders } from './sigv4.ts'

const converse =
  ({ now, newId }: AnswerHeads): ChatFormat['request'] =>
  (body, route, stream) => {
    const { id, model } = plainModel(route)
    const request = anthropicRequest(body, id, { stream: false, model })
    const reader = (): ConverseReader =>
      new ConverseReader(new ChunkWriter(newId(), route.model, Math.floor(now() / 1000)), request.answerTool)
    return {
      path: `/model/${encodeURIComponent(route.model)}/${stream ? 'converse-stream' : 'converse'}`,
      headers: {
        'content-type': 'application/json',
        accept: stream ? streamType : 'application/json',
        ...bedrockHeaders(route),
      },
      body: encodeJson(converseRequest(markedAtEnd(request.body))),
      answer(json) {
        if (!isObject(json)) throw streamBroken()
        return wholeAnswer(reader(), converseEvents(json))
      },
      decoder: () => new FrameDecoder(reader(), converseEvent),
    }
  }

/** Chats by Converse or by InvokeModel. */
const bedrockChat = (heads: AnswerHeads = answerHeads): ChatFormat => {
  const operations = { converse: converse(heads), invoke: invokeRequest({ heads, headers: bedrockHeaders }) }
  return {
    request: (body, route, stream) => operations[operationOf(route, body)](body, route, stream),
    failure: bedrockFailure,
  }
}

/** AWS writes the code of an error beside its message, and reports an unknown model as an invalid request. */
const bedrockFailure = ({ status, body, retryAfter }: ErrorAnswer, now: number): AttemptFailed => {
  const { message, Message, __type } = objectOf(parseJson(body))
  const text = textOf(message) || textOf(Message)
  const isUnknown = status === 400 && /model identifier is invalid/i.test(text)
  const error = { message: text, code: textOf(__type).replace(/^.*#/, '') }
  return statusFailure({ status: isUnknown ? 404 : status, body: JSON.stringify({ error }), retryAfter }, now)
}

/** A Bedrock API key; access keys sign each request instead. */
const bedrockHeaders: ProviderFormat['headers'] = (route) => (route.apiKey?.startsWith('{') ? {} : bearer(route))

const authorize: ProviderFormat['authorize'] = async ({ apiKey, baseUrl, settings }: AuthorizedRoute, request) => {
  if (apiKey?.startsWith('{') !== true) return {}
  const fields = objectOf(parseJson(apiKey))
  const region = settings?.region ?? /^bedrock(?:-runtime)?(?:-fips)?\.([\w-]+)\./.exec(new URL(baseUrl).host)?.[1]
  const signer = {
    accessKeyId: textOf(fields.access_key_id),
    secretAccessKey: textOf(fields.secret_access_key),
    sessionToken: textOf(fields.session_token) || null,
    ...{ region: region ?? 'us-east-1', service: 'bedrock' },
  }
  return signatureHeaders(request, signer, Date.now())
}

/** What the listed foundation models give, in the order of their pages. */
const modalities = ['TEXT', 'EMBEDDING', 'IMAGE']
/** Cursor of the first page of inference profiles, by which newer models are called; foundation models come first. */
const profiles = 'profiles'

/** Whether a listed model can be called here: of those that write no texts, the ones whose bodies are known. */
const isServed = (row: unknown): boolean => {
  const { modelId, outputModalities } = objectOf(row)
  const id = textOf(modelId)
  return arrayOf(outputModalities).includes('TEXT') || isBedrockEmbedder(id) || isBedrockImager(id)
}

/** Amazon Bedrock: chats by its Converse API or by InvokeModel, messages for Claude, embeddings and images by InvokeModel. */
export const bedrock: ProviderFormat = {
  headers: bedrockHeaders,
  authorize,
  chat: bedrockChat(),
  messages: bedrockMessages(bedrockHeaders, bedrockFailure),
  embeddings: bedrockEmbeddings(bedrockHeaders, bedrockFailure),
  images: bedrockImages(bedrockHeaders, bedrockFailure),
  imageLimits: { ...usualImages, maxBytes: 3.75 * 1024 * 1024, fetches: false },
  models: {
    base: (baseUrl) => baseUrl.replace('//bedrock-runtime', '//bedrock'),
    path: (after) => {
      const modality = after ?? modalities[0] ?? ''
      if (modalities.includes(modality)) return `/foundation-models?byOutputModality=${modality}`
      const next = after === profiles ? '' : `&nextToken=${encodeURIComponent(modality)}`
      return `/inference-profiles?maxResults=1000${next}`
    },
    rows: (json) =>
      listIn(objectOf(json).modelSummaries)?.filter(isServed) ?? listIn(objectOf(json).inferenceProfileSummaries),
    model: (row) => ({
      id: row.modelId ?? row.inferenceProfileId,
      name: row.modelName ?? row.inferenceProfileName,
    }),
    next: (json, after) => {
      const page = modalities.indexOf(after ?? modalities[0] ?? '')
      return page < 0 ? textOf(objectOf(json).nextToken) || null : (modalities[page + 1] ?? profiles)
    },
  },
}
