import { answersEither, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { array, described, integer, jsonObject, nullable, object, oneOf, optional, string } from '#specs/dsl/schema.ts'
import type { ErrorCode } from '#specs/errors/errors.ts'
import { modelCallErrors } from '#specs/errors/gateway-errors.ts'
import { passedOn } from './passed-on.ts'

/** Maximum number of images of one edit. */
export const maxEditImages = 16

/** Maximum size of each image of an edit, in bytes. */
export const maxEditImageBytes = 20 * 1024 * 1024

const name = string({ minLength: 1, maxLength: 256 })

/** Fields of every request. */
const common = {
  model: name,
  n: optional(nullable(described(integer({ min: 1, max: 10 }), 'Number of images. Default: 1.'))),
  size: optional(nullable(described(name, 'Width and height in pixels, such as `1024x1024`.'))),
  response_format: optional(nullable(oneOf('b64_json', 'url'))),
}

const prompt = (description: string) => described(string({ minLength: 1, maxLength: 32_000 }), description)

const image = object({
  image_url: described(string({ minLength: 1 }), 'URL of the image: `https://`, or `data:` with base64.'),
})

const shared = {
  ...passedOn,
  answer: answersEither(
    isJsonResponse(
      object(
        { created: integer(), data: array(jsonObject()) },
        { title: 'Images', description: 'The images, as base64 or as URLs.', open: true },
      ),
    ),
  ),
} as const

/** Maximum size of all images together, with their texts. */
const maxBodyBytes = 64 * 1024 * 1024

const imageErrors: readonly ErrorCode[] = ['bad_request', 'unsupported_format', 'image_too_large', ...modelCallErrors]

const forwarding =
  'Streaming is not supported. Fields that this reference does not list are forwarded too. Charged by tokens where the provider reports them, else per image.'

/** The text of an edit that makes a variation. */
export const variationPrompt =
  'Create a variation of this image. Keep its subject, composition and style, and change the details.'

/** OpenAI's images. */
export const images = defineOperations('images', {
  generate: {
    ...shared,
    summary: 'Generate images',
    description: `Compatible with OpenAI's image generation, for image models of OpenAI, xAI, Google and compatible servers. ${forwarding}`,
    path: '/v1/images/generations',
    body: object({ ...common, prompt: prompt('Description of the images.'), quality: optional(nullable(name)) }),
  },
  edit: {
    ...shared,
    summary: 'Edit images',
    description: `Makes images from up to 16 images (PNG, JPEG or WebP of at most 20 MB) and a text: files of a form, or URLs in JSON. For image models of OpenAI, Azure, Google, Vertex AI, xAI and compatible servers. Google's models make one image per request and take no mask; xAI's take up to three images and no mask, and their cost is unknown unless the project sets a price. ${forwarding}`,
    path: '/v1/images/edits',
    maxBodyBytes,
    files: { fields: ['image', 'image[]', 'mask'], orJson: true },
    body: object({
      ...common,
      prompt: prompt('What is to be changed.'),
      quality: optional(nullable(name)),
      images: optional(
        described(array(image, { minItems: 1, maxItems: maxEditImages }), 'The images, in JSON instead of files.'),
      ),
      mask: optional(nullable(described(image, 'Image whose transparent areas mark what of the first is changed.'))),
    }),
    errors: imageErrors,
  },
  vary: {
    ...shared,
    summary: 'Create variations of an image',
    description: `An edit with the text "${variationPrompt}", since OpenAI has retired its own variations. ${forwarding}`,
    path: '/v1/images/variations',
    maxBodyBytes,
    files: { fields: ['image'], orJson: false },
    body: object(common),
    errors: imageErrors,
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly images: typeof images
  }
}
