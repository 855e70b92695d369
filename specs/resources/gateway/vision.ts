import { anyKeyOrDashboard } from '#specs/access.ts'
import { answersEither, answersFrames, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations, type OperationSpec } from '#specs/dsl/declare.ts'
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
  type Shape,
  string,
  union,
} from '#specs/dsl/schema.ts'
import type { ErrorCode } from '#specs/errors/errors.ts'
import { modelCallErrors } from '#specs/errors/gateway-errors.ts'
import { maybe } from './shapes/chat-shapes.ts'

/** Maximum body size: two images of 20 MiB in base64, or more smaller ones. */
const maxBodyBytes = 64 * 1024 * 1024

/** Maximum number of images in one request. */
export const maxImages = 64

const url = described(string({ minLength: 1 }), 'URL of the image: `https://`, or `data:` with base64.')
const base64 = described(string({ minLength: 1 }), 'Image as base64, without a `data:` prefix.')
const mimeType = string({ minLength: 1, maxLength: 128 })

const image = union([url, object({ url: maybe(url), base64: maybe(base64), mime_type: maybe(mimeType) })])

const body = object(
  {
    image_url: maybe(url),
    image_base64: maybe(base64),
    mime_type: maybe(described(mimeType, 'Media type of `image_base64`.')),
    images: maybe(array(image, { maxItems: maxImages })),
    prompt: maybe(
      described(string({ maxLength: 100_000 }), 'Question about the images. Used by `vision.analyze` only.'),
    ),
    model: maybe(
      described(
        string({ minLength: 1, maxLength: 256 }),
        'Model id, or `provider/model`. Default: `gpt-4o-mini`, or a configured model that accepts images.',
      ),
    ),
    max_tokens: maybe(integer({ min: 1 })),
    temperature: maybe(number({ min: 0, max: 2 })),
    response_format: maybe(oneOf('text', 'json')),
    stream: maybe(boolean()),
  },
  // generators give this name to the form, which has the same fields
  { title: 'VisionAnalyzeRequest', description: 'Images with a question about them.' },
)

const usd = nullable(number())

/** Common fields of all results. Costs are null when the price is unknown. */
const about = {
  model: string(),
  provider: string(),
  usage: object(
    { promptTokens: integer(), completionTokens: integer(), totalTokens: integer() },
    { title: 'VisionUsage' },
  ),
  cost: object({ providerCostUsd: usd, serviceChargeUsd: usd, markupPercentage: number() }, { title: 'VisionCost' }),
}

/** The data of each event of a streamed answer: parts of its text, then one event with everything else. */
const event = object(
  {
    delta: optional(string()),
    done: optional(boolean()),
    error: optional(string({ description: 'Code of the error that ended the stream.' })),
  },
  { title: 'VisionEvent', description: 'An event of a streamed analysis.', open: true },
)

const refusals: readonly ErrorCode[] = ['bad_request', 'unsupported_format', 'image_too_large', ...modelCallErrors]

const operation = <const P extends `/v1/vision${string}`, F extends Shape>(
  path: P,
  { summary, title, shows }: { readonly summary: string; readonly title: string; readonly shows: F },
) =>
  ({
    summary,
    description:
      'Send images as URLs, as base64, or as files in a multipart form. Returns one JSON document, or server-sent events with `stream: true`.',
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
    answer: answersEither(isJsonResponse(object({ ...shows, ...about }, { title })), answersFrames(event)),
    errors: refusals,
  }) as const satisfies OperationSpec

/** Analysis of images with the caller's prompt or a preset. */
export const vision = defineOperations('vision', {
  analyze: operation('/v1/vision', { summary: 'Analyze images', title: 'VisionResult', shows: { analysis: string() } }),
  describe: operation('/v1/vision/describe', {
    summary: 'Describe images',
    title: 'VisionDescription',
    shows: { description: string() },
  }),
  ocr: operation('/v1/vision/ocr', {
    summary: 'Extract text from images',
    title: 'VisionText',
    shows: { text: string() },
  }),
  classify: operation('/v1/vision/classify', {
    summary: 'Classify images',
    title: 'VisionClassification',
    shows: {
      classification: described(
        nullable(jsonObject()),
        'Tags, categories and objects. Null if the model did not return a JSON object; its text is then in `raw`.',
      ),
      raw: string(),
    },
  }),
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly vision: typeof vision
  }
}
