import { anyKeyOrDashboard } from '#specs/access.ts'
import { answersEither, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { array, described, integer, jsonObject, object, optional, string, union } from '#specs/dsl/schema.ts'
import { modelCallErrors } from '#specs/errors/gateway-errors.ts'

const name = string({ minLength: 1, maxLength: 256 })
const text = string({ minLength: 1 })

/** Common options: the body is forwarded to the model's provider unchanged, and its response is returned unchanged. */
export const passedOn = {
  method: 'POST',
  access: anyKeyOrDashboard,
  envelope: 'openai',
  attributed: true,
  unknownFields: 'ignore',
  idempotency: 'stored',
  maxBodyBytes: 16 * 1024 * 1024,
  errors: modelCallErrors,
} as const

/** OpenAI's moderations. */
export const moderations = defineOperations('moderations', {
  create: {
    ...passedOn,
    summary: 'Classify content',
    description:
      "Forwarded to a provider that implements OpenAI's moderations API (OpenAI, Mistral, compatible servers). Default model: OpenAI's newest. Fields that this reference does not list are forwarded too.",
    path: '/v1/moderations',
    body: object({
      model: optional(name),
      input: union([text, array(union([text, jsonObject()]), { minItems: 1, maxItems: 2_048 })]),
    }),
    answer: answersEither(
      isJsonResponse(
        object(
          { results: array(jsonObject()) },
          { title: 'Moderation', description: 'Result of a moderation.', open: true },
        ),
      ),
    ),
  },
})

/** OpenAI's legacy completions. */
export const completions = defineOperations('completions', {
  create: {
    ...passedOn,
    summary: 'Create a legacy completion',
    description:
      "Forwarded to a provider of the model that implements OpenAI's legacy completions API. Streaming is not supported. Fields that this reference does not list are forwarded too.",
    path: '/v1/completions',
    body: object({
      model: name,
      prompt: described(
        union([string(), array(string(), { minItems: 1, maxItems: 2_048 })]),
        'One text, or several that are each completed.',
      ),
      max_tokens: optional(integer({ min: 1 })),
    }),
    answer: answersEither(
      isJsonResponse(
        object(
          { choices: array(jsonObject()) },
          { title: 'Completion', description: 'The completed texts.', open: true },
        ),
      ),
    ),
  },
})

/** Reranking, in the format of Cohere, Jina and compatible servers. */
export const rerank = defineOperations('rerank', {
  create: {
    ...passedOn,
    summary: 'Rank documents by a query',
    description:
      "Forwarded to a provider of the model whose API has `/rerank` (Together, compatible servers). Fields that this reference does not list are forwarded too. `/v2/rerank` is the path of Cohere's SDKs.",
    path: '/v1/rerank',
    alsoAt: ['/v2/rerank'],
    body: object({
      model: name,
      query: text,
      documents: array(union([text, jsonObject()]), { minItems: 1, maxItems: 10_000 }),
      top_n: optional(integer({ min: 1 })),
    }),
    answer: answersEither(
      isJsonResponse(
        object(
          { results: array(jsonObject()) },
          { title: 'Reranking', description: 'The ranked documents.', open: true },
        ),
      ),
    ),
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly moderations: typeof moderations
    readonly completions: typeof completions
    readonly rerank: typeof rerank
  }
}
