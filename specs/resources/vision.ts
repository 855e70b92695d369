import { anyKeyOrDashboard } from '../access.ts'
import { answersBytes, answersEither, answersJson } from '../answer.ts'
import { defineOperations, type OperationSpec } from '../declare.ts'
import type { ErrorCode } from '../errors.ts'
import { modelCallErrors } from '../gateway-errors.ts'
import {
  array,
  boolean,
  described,
  integer,
  jsonObject,
  nullable,
  number,
  object,
  oneOf,
  optional,
  type Schema,
  type Shape,
  string,
  union,
} from '../schema.ts'

/** Bodies of images in base64, a third larger than they are: two of 20 MiB, or more smaller ones. */
const maxBodyBytes = 64 * 1024 * 1024

/** Images of one request. */
export const maxImages = 64

const maybe = <S extends Schema<unknown>>(schema: S) => optional(nullable(schema))

const url = described(string({ minLength: 1 }), 'https:// or a data: URL in base64')
const base64 = described(string({ minLength: 1 }), 'Base64 without a data: prefix')
const mimeType = string({ minLength: 1, maxLength: 128 })

const image = union([url, object({ url: maybe(url), base64: maybe(base64), mime_type: maybe(mimeType) })])

const body = object(
  {
    image_url: maybe(url),
    image_base64: maybe(base64),
    mime_type: maybe(described(mimeType, 'Of image_base64.')),
    images: maybe(array(image, { maxItems: maxImages })),
    prompt: maybe(described(string({ maxLength: 100_000 }), 'The presets pass over it.')),
    model: maybe(described(string({ minLength: 1, maxLength: 256 }), 'gpt-4o-mini, or what is configured.')),
    max_tokens: maybe(integer({ min: 1 })),
    temperature: maybe(number({ min: 0, max: 2 })),
    response_format: maybe(oneOf('text', 'json')),
    stream: maybe(boolean()),
  },
  { title: 'VisionRequest' },
)

const usd = nullable(number())

/** What every result has beside its text. Costs are null when the price is unknown. */
const about = {
  model: string(),
  provider: string(),
  usage: object(
    { promptTokens: integer(), completionTokens: integer(), totalTokens: integer() },
    { title: 'VisionUsage' },
  ),
  cost: object({ providerCostUsd: usd, serviceChargeUsd: usd, markupPercentage: number() }, { title: 'VisionCost' }),
}

const refusals: readonly ErrorCode[] = ['bad_request', 'unsupported_format', 'image_too_large', ...modelCallErrors]

const operation = <const P extends `/v1/vision${string}`, F extends Shape>(
  path: P,
  summary: string,
  title: string,
  shows: F,
) =>
  ({
    summary,
    method: 'POST',
    path,
    alsoAt: [path.replace('/v1/', '/api/ai/')],
    access: anyKeyOrDashboard,
    envelope: 'flat',
    unknownFields: 'ignore',
    idempotency: 'stored',
    attributed: true,
    maxBodyBytes,
    body,
    files: { fields: ['file', 'files[]', 'files'], orJson: true },
    answer: answersEither(answersJson(object({ ...shows, ...about }, { title })), answersBytes('text/event-stream')),
    errors: refusals,
  }) as const satisfies OperationSpec

/** What is in pictures (interface "Vision"): with a prompt of one's own, or by a preset. */
export const vision = defineOperations('vision', {
  analyze: operation('/v1/vision', 'Ask about images', 'VisionResult', { analysis: string() }),
  describe: operation('/v1/vision/describe', 'Describe images', 'VisionDescription', { description: string() }),
  ocr: operation('/v1/vision/ocr', 'Read the text in images', 'VisionText', { text: string() }),
  classify: operation('/v1/vision/classify', 'Classify images: tags, categories, objects', 'VisionClassification', {
    classification: described(
      nullable(jsonObject()),
      'null when the model answered no JSON object; then `raw` is all.',
    ),
    raw: string(),
  }),
})
