import { anyKeyOrDashboard } from '#specs/access.ts'
import { costUsd } from '#specs/cost-field.ts'
import { answersEither, answersFrames, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import {
  array,
  boolean,
  described,
  integer,
  jsonObject,
  number,
  object,
  oneOf,
  optional,
  string,
} from '#specs/dsl/schema.ts'
import { modelCallErrors } from '#specs/errors/gateway-errors.ts'
import { maybe } from './shapes/chat-shapes.ts'

const parts = array(jsonObject(), { minItems: 1, maxItems: 4096 })

const content = object(
  { role: maybe(string({ maxLength: 16 })), parts },
  { title: 'GeminiContent', description: 'A turn of the conversation, or the instructions.', open: true },
)

const conversation = {
  contents: array(content, { minItems: 1, maxItems: 8192 }),
  systemInstruction: maybe(content),
  tools: described(
    maybe(array(jsonObject(), { maxItems: 128 })),
    "`functionDeclarations` for every model. Google's own tools are sent to Google, and dropped for other providers (header `X-Ignored-Tools`).",
  ),
  toolConfig: maybe(jsonObject()),
  generationConfig: maybe(jsonObject()),
  safetySettings: described(maybe(array(jsonObject(), { maxItems: 64 })), 'Sent to Google only.'),
  cachedContent: described(maybe(string({ maxLength: 1024 })), 'Sent to Google only.'),
}

const request = object(conversation, {
  title: 'GeminiRequest',
  description: "A request of the Gemini API. Names in snake case are accepted, as in Google's API.",
})

const usageMetadata = object(
  {
    promptTokenCount: integer(),
    candidatesTokenCount: integer(),
    totalTokenCount: integer(),
    thoughtsTokenCount: optional(integer()),
    cachedContentTokenCount: optional(integer()),
    cost_usd: costUsd,
  },
  { title: 'GeminiUsage', description: 'Token counts of the answer.', open: true },
)

const part = object(
  {
    text: optional(string()),
    thought: optional(boolean()),
    functionCall: optional(
      object(
        { id: optional(string()), name: string(), args: object({}, { open: true }) },
        { title: 'GeminiFunctionCall', description: 'A call of a function.', open: true },
      ),
    ),
  },
  { title: 'GeminiPart', description: 'A part of an answer.', open: true },
)

const answer = object(
  {
    candidates: array(
      object(
        {
          content: object({ role: oneOf('model'), parts: array(part) }),
          finishReason: optional(string()),
          groundingMetadata: described(
            optional(object({}, { open: true })),
            'What the text cites; places are in bytes.',
          ),
          index: integer(),
        },
        { title: 'GeminiCandidate', description: 'An answer, or the next part of one.', open: true },
      ),
    ),
    usageMetadata: optional(usageMetadata),
    modelVersion: string(),
    responseId: string(),
  },
  { title: 'GeminiAnswer', description: "An answer in the form of Google's Gemini API.", open: true },
)

const embedding = object(
  { values: array(number()) },
  { title: 'GeminiEmbedding', description: 'Vector of one content.', open: true },
)

const embedded = {
  content,
  taskType: maybe(string({ maxLength: 64 })),
  title: maybe(string({ maxLength: 1024 })),
  outputDimensionality: maybe(integer({ min: 1, max: 65_536 })),
}

const modelInfo = object(
  {
    name: string(),
    baseModelId: string(),
    version: string(),
    displayName: string(),
    description: string(),
    inputTokenLimit: optional(integer()),
    supportedGenerationMethods: array(string()),
  },
  { title: 'GeminiModel', description: "A model in the form of Google's Gemini API." },
)

const model = '/v1beta/models/{model}'
/** The path of the API's stable version, which Google's SDK for Python uses. */
const stable = '/v1/models/{model}'

const common = {
  method: 'POST',
  slashesInLast: true,
  access: anyKeyOrDashboard,
  envelope: 'google',
  unknownFields: 'ignore',
  attributed: true,
} as const

const listing = { method: 'GET', access: anyKeyOrDashboard, envelope: 'google' } as const

/** The API of Google's Gemini, for every model. */
export const gemini = defineOperations('gemini', {
  generate: {
    ...common,
    summary: 'Generate content',
    description:
      "Compatible with `generateContent` of Google's Gemini API, for every model. Google's SDKs work with this server as base URL and a key as API key (header `x-goog-api-key`).",
    path: `${model}:generateContent`,
    alsoAt: [`${stable}:generateContent`],
    idempotency: 'stored',
    chatBodyBytes: 64 * 1024 * 1024,
    body: request,
    answer: answersEither(isJsonResponse(answer)),
    errors: modelCallErrors,
  },
  stream: {
    ...common,
    summary: 'Generate content as a stream',
    description:
      "Compatible with `streamGenerateContent` of Google's Gemini API, for every model. The answer is always a stream of server-sent events, with `alt=sse` and without. Function calls arrive whole, before the end.",
    path: `${model}:streamGenerateContent`,
    alsoAt: [`${stable}:streamGenerateContent`],
    idempotency: 'stored',
    chatBodyBytes: 64 * 1024 * 1024,
    query: { alt: optional(oneOf('sse')) },
    body: request,
    answer: answersFrames(answer),
    errors: modelCallErrors,
  },
  count_tokens: {
    ...common,
    summary: 'Count the tokens of a content',
    description: "Compatible with `countTokens` of Google's Gemini API. The count is estimated from the length.",
    path: `${model}:countTokens`,
    alsoAt: [`${stable}:countTokens`],
    idempotency: 'ignored',
    chatBodyBytes: 64 * 1024 * 1024,
    body: object(
      { contents: optional(conversation.contents), generateContentRequest: optional(jsonObject()) },
      { title: 'GeminiCountRequest' },
    ),
    answer: answersEither(isJsonResponse(object({ totalTokens: integer() }))),
    errors: modelCallErrors,
  },
  embed: {
    ...common,
    summary: 'Embed a content',
    description: "Compatible with `embedContent` of Google's Gemini API, for every model of embeddings.",
    path: `${model}:embedContent`,
    alsoAt: [`${stable}:embedContent`],
    idempotency: 'stored',
    body: object(embedded, { title: 'GeminiEmbedRequest' }),
    answer: answersEither(isJsonResponse(object({ embedding }))),
    errors: modelCallErrors,
  },
  embed_batch: {
    ...common,
    summary: 'Embed contents',
    description: "Compatible with `batchEmbedContents` of Google's Gemini API, for every model of embeddings.",
    path: `${model}:batchEmbedContents`,
    alsoAt: [`${stable}:batchEmbedContents`],
    idempotency: 'stored',
    maxBodyBytes: 16 * 1024 * 1024,
    body: object(
      { requests: array(object(embedded, { title: 'GeminiEmbedItem', open: true }), { minItems: 1, maxItems: 2_048 }) },
      { title: 'GeminiEmbedBatch' },
    ),
    answer: answersEither(isJsonResponse(object({ embeddings: array(embedding) }))),
    errors: modelCallErrors,
  },
  list_models: {
    ...listing,
    summary: "List models in the form of Google's API",
    description: 'Models that chat or embed, those that can be called first. The list is always complete.',
    path: '/v1beta/models',
    passedOver: ['pageSize', 'pageToken'],
    answer: isJsonResponse(object({ models: array(modelInfo) })),
  },
  get_model: {
    ...listing,
    summary: "Retrieve a model in the form of Google's API",
    description: 'Takes a model id or `provider/model` of one that chats or embeds, with the methods that it serves.',
    path: model,
    slashesInLast: true,
    answer: isJsonResponse(modelInfo),
    errors: ['model_not_found'],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly gemini: typeof gemini
  }
}
