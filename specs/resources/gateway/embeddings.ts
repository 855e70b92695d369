import { anyKeyOrDashboard } from '#specs/access.ts'
import { costUsd } from '#specs/cost-field.ts'
import { answersEither, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { array, integer, nullable, number, object, oneOf, optional, string, union } from '#specs/dsl/schema.ts'
import { modelCallErrors } from '#specs/errors/gateway-errors.ts'

const model = string({ minLength: 1, maxLength: 256 })
const text = string({ minLength: 1 })
const tokens = array(integer({ min: 0 }), { minItems: 1, maxItems: 65_536 })

/** Maximum number of inputs in one request, as in OpenAI's API. */
const maxInputs = 2_048

const list = object(
  {
    object: oneOf('list'),
    data: array(
      object(
        { object: oneOf('embedding'), index: integer(), embedding: union([array(number()), string()]) },
        { title: 'Embedding', description: 'Embedding of one text.', open: true },
      ),
    ),
    model: string(),
    usage: object(
      { prompt_tokens: integer(), total_tokens: integer(), cost_usd: costUsd },
      { title: 'EmbeddingUsage', description: 'Token counts of the input.', open: true },
    ),
  },
  { title: 'EmbeddingList', description: 'Embeddings in the order of the input texts.', open: true },
)

/** OpenAI's embeddings. Undeclared fields are forwarded to the provider. */
export const embeddings = defineOperations('embeddings', {
  create: {
    summary: 'Create embeddings',
    description:
      "Compatible with OpenAI's embeddings, for every model. When `model` fails, the fallbacks in `models` are tried in order.",
    method: 'POST',
    path: '/v1/embeddings',
    access: anyKeyOrDashboard,
    envelope: 'openai',
    attributed: true,
    unknownFields: 'ignore',
    idempotency: 'stored',
    maxBodyBytes: 16 * 1024 * 1024,
    body: object({
      model,
      input: union([
        text,
        array(text, { minItems: 1, maxItems: maxInputs }),
        tokens,
        array(tokens, { minItems: 1, maxItems: maxInputs }),
      ]),
      models: optional(array(model, { maxItems: 8 })),
      dimensions: optional(nullable(integer({ min: 1, max: 65_536 }))),
      encoding_format: optional(nullable(oneOf('float', 'base64'))),
      user: optional(nullable(string({ maxLength: 512 }))),
    }),
    answer: answersEither(isJsonResponse(list)),
    errors: ['bad_request', 'content_policy_violation', ...modelCallErrors],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly embeddings: typeof embeddings
  }
}
