import { refused } from '#gateway/call/failure.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { arrayOf, countOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { DocumentTarget } from '../document-target.ts'
import { base64Of, type GivenImages, ratioOf } from '../image-format.ts'
import { googleUsage, isBlocked } from './google-usage.ts'

/** How images are made by `generateContent`, which takes images inline and makes one. */
export const googleImages = (
  target: Pick<DocumentTarget, 'path' | 'headers'>,
  given: GivenImages | null,
): DocumentTarget => {
  if (given !== null && given.mask !== null) throw invalidField('mask', "Google's models take no mask.")
  return {
    ...target,
    encode: (document) => ({ contentType: 'application/json', body: encodeJson(requestOf(document, given)) }),
    decode: answerOf,
  }
}

const requestOf = ({ prompt, size, n }: WireObject, given: GivenImages | null): WireObject => {
  if (countOf(n) > 1) throw invalidField('n', "Google's models make one image per request.")
  const aspectRatio = ratioOf(textOf(size), ratios)
  const images = (given?.images ?? []).map(({ bytes, mimeType }) => ({
    inlineData: { mimeType, data: base64Of(bytes) },
  }))
  return {
    contents: [{ role: 'user', parts: [{ text: textOf(prompt) }, ...images] }],
    generationConfig: {
      responseModalities: ['IMAGE'],
      ...(aspectRatio !== null && { imageConfig: { aspectRatio } }),
    },
  }
}

const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']

/** @throws {AttemptFailed} `content_policy_violation`, `provider_error` when there is no image. */
const answerOf = (answer: WireObject, document: WireObject): WireObject => {
  const candidate = objectOf(arrayOf(answer.candidates)[0])
  const parts = arrayOf(objectOf(candidate.content).parts).map(objectOf)
  // drafts of models that think are part of the thoughts
  const images = parts.filter(({ inlineData, thought }) => isObject(inlineData) && thought !== true)
  if (images.length === 0) throw withoutImage(answer, textOf(candidate.finishReason))
  const data = images.map(({ inlineData }) => {
    const { mimeType, data: base64 } = objectOf(inlineData)
    const url = `data:${textOf(mimeType)};base64,${textOf(base64)}`
    return document.response_format === 'url' ? { url } : { b64_json: base64 }
  })
  return { created: Math.floor(Date.now() / 1000), data, usage: usageOf(objectOf(answer.usageMetadata)) }
}

const withoutImage = ({ promptFeedback }: WireObject, finishReason: string) =>
  textOf(objectOf(promptFeedback).blockReason) !== '' || isBlocked(finishReason)
    ? refused(new ModelError('content_policy_violation', 'The provider refused the content of the request.'))
    : refused(new ModelError('provider_error', 'The model returned no image.'))

/** Usage as OpenAI reports that of images. */
const usageOf = (counts: WireObject): WireObject | undefined => {
  const usage = googleUsage(counts)
  if (usage === null) return undefined
  const { inputTokens, outputTokens, reasoningTokens } = usage
  const image_tokens = arrayOf(counts.promptTokensDetails)
    .map(objectOf)
    .reduce((sum, { modality, tokenCount }) => sum + (modality === 'IMAGE' ? countOf(tokenCount) : 0), 0)
  return {
    ...{ input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens },
    input_tokens_details: { text_tokens: inputTokens - image_tokens, image_tokens },
    output_tokens_details: { reasoning_tokens: reasoningTokens },
  }
}
