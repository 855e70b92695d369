import type { AuthorizedRoute } from '#gateway/call/authorization/authorization.ts'
import type { ChatDecoder, ChatFormat } from '#gateway/call/chat-format.ts'
import { type AttemptFailed, type ErrorAnswer, statusFailure, streamBroken } from '#gateway/call/failure.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { arrayOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import { anthropicModel } from '../anthropic/anthropic-model.ts'
import { anthropicRequest } from '../anthropic/anthropic-request.ts'
import { type AnswerHeads, answerHeads, ChunkWriter } from '../chunk-writer.ts'
import { type EventReader, wholeAnswer } from '../event-decoder.ts'
import { bearer, listIn, type ProviderFormat, usualImages } from '../provider-format.ts'
import { bedrockEmbeddings, isBedrockEmbedder } from './bedrock-embeddings.ts'
import { ConverseReader, converseEvents, exceptionFailure } from './converse-reader.ts'
import { converseRequest } from './converse-request.ts'
import { EventStreamDecoder, type StreamMessage } from './event-stream.ts'
import { signatureHeaders } from './sigv4.ts'

/** The name of a Claude model without the vendor, the group of regions and the revision; other ids are unchanged. */
const plainId = (id: string): string =>
  id.includes('anthropic.') ? id.replace(/^.*anthropic\./, '').replace(/-v\d+(?::\d+)?$/, '') : id

const bedrockFormat = ({ now, newId }: AnswerHeads = answerHeads): ChatFormat => ({
  request(body, route, stream) {
    const known = anthropicModel(plainId(route.model))
    const structured = known.structured && route.model.includes('anthropic.')
    const model = { ...known, ...limitOf(route.model), structured }
    const request = anthropicRequest(body, plainId(route.model), { stream: false, model })
    const reader = (): ConverseReader =>
      new ConverseReader(new ChunkWriter(newId(), route.model, Math.floor(now() / 1000)), request.answerTool)
    return {
      path: `/model/${encodeURIComponent(route.model)}/${stream ? 'converse-stream' : 'converse'}`,
      headers: {
        'content-type': 'application/json',
        accept: stream ? 'application/vnd.amazon.eventstream' : 'application/json',
        ...bedrockHeaders(route),
      },
      body: encodeJson(converseRequest(request)),
      answer(json) {
        if (!isObject(json)) throw streamBroken()
        return wholeAnswer(reader(), converseEvents(json))
      },
      decoder: () => new FrameDecoder(reader()),
    }
  },
  failure: bedrockFailure,
})

/** The maximum output of a model by its id here. */
const limitOf = (id: string): { readonly maxOutput?: number } => {
  const { maxOutput } = anthropicModel(`bedrock/${id}`)
  return maxOutput === null ? {} : { maxOutput }
}

/** Decodes the frames of ConverseStream and passes each event to a reader. */
class FrameDecoder implements ChatDecoder {
  readonly #frames = new EventStreamDecoder()
  readonly #reader: EventReader

  constructor(reader: EventReader) {
    this.#reader = reader
  }

  get done(): boolean {
    return this.#reader.done
  }

  push(bytes: Uint8Array): readonly WireObject[] {
    return this.#frames.push(bytes).flatMap((message) => this.#read(message))
  }

  finish(): ReturnType<ChatDecoder['finish']> {
    if (this.#frames.isInside) throw streamBroken()
    return this.#reader.finish()
  }

  #read({ headers, json }: StreamMessage): readonly WireObject[] {
    const kind = headers[':message-type']
    if (kind !== 'event') {
      const name = headers[':exception-type'] ?? headers[':error-code'] ?? 'error'
      throw exceptionFailure(name, headers[':error-message'] ?? objectOf(json).message)
    }
    if (!isObject(json)) throw streamBroken()
    return this.#reader.read({ ...json, type: headers[':event-type'] })
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

/** Cursor of the embedding models, which come after those that write texts. */
const embedders = 'embedders'
/** Cursor of the first page of inference profiles, by which newer models are called; foundation models come first. */
const profiles = 'profiles'

/** Whether a listed model can be called here: of embedding models, those of the vendors that are known. */
const isServed = (row: unknown): boolean => {
  const { modelId, outputModalities } = objectOf(row)
  return !arrayOf(outputModalities).includes('EMBEDDING') || isBedrockEmbedder(textOf(modelId))
}

/** Amazon Bedrock: chats by its Converse API, embeddings by InvokeModel. */
export const bedrock: ProviderFormat = {
  headers: bedrockHeaders,
  authorize,
  chat: bedrockFormat(),
  embeddings: bedrockEmbeddings(bedrockHeaders, bedrockFailure),
  imageLimits: { ...usualImages, maxBytes: 3.75 * 1024 * 1024, fetches: false },
  models: {
    base: (baseUrl) => baseUrl.replace('//bedrock-runtime', '//bedrock'),
    path: (after) => {
      if (after === null) return '/foundation-models?byOutputModality=TEXT'
      if (after === embedders) return '/foundation-models?byOutputModality=EMBEDDING'
      const next = after === profiles ? '' : `&nextToken=${encodeURIComponent(after)}`
      return `/inference-profiles?maxResults=1000${next}`
    },
    rows: (json) =>
      listIn(objectOf(json).modelSummaries)?.filter(isServed) ?? listIn(objectOf(json).inferenceProfileSummaries),
    model: (row) => ({
      id: row.modelId ?? row.inferenceProfileId,
      name: row.modelName ?? row.inferenceProfileName,
    }),
    next: (json, after) => {
      if (after === null) return embedders
      return after === embedders ? profiles : textOf(objectOf(json).nextToken) || null
    },
  },
}
