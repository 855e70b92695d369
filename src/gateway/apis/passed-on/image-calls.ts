import { counted } from '#gateway/call/accounting/counted.ts'
import { chargedIn } from '#gateway/call/accounting/openai-usage.ts'
import { routePrice } from '#gateway/call/accounting/route-price.ts'
import type { Route } from '#gateway/call/routes.ts'
import type { JsonCallKind } from '#gateway/documents/json-calls.ts'
import { costOfUnits, reportsCharges } from '#gateway/prices/prices.ts'
import type { TokenUsage, Usage } from '#gateway/prices/usage.ts'
import type { GivenImages } from '#gateway/providers/image-format.ts'
import { providerFormats } from '#gateway/providers/provider-formats.ts'
import { arrayOf, countOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'

/**
 * Tokens of one OpenAI image of the largest common size, by quality. An absent or unknown quality counts as the most
 * expensive.
 */
const tokensByQuality: ReadonlyMap<string, number> = new Map([
  ['low', 408],
  ['medium', 1584],
])
const maxTokens = 6240

/** More than OpenAI and Google count for one image of the input, at the highest fidelity. */
const maxInputTokens = 8192

const max = ({ prompt, n, quality }: WireObject, given: GivenImages | null): Usage => {
  const images = countOf(n) || 1
  const imageInputTokens = maxInputTokens * ((given?.images.length ?? 0) + (given?.mask ? 1 : 0))
  const tokens: TokenUsage = {
    inputTokens: Buffer.byteLength(textOf(prompt)) + imageInputTokens,
    outputTokens: images * (tokensByQuality.get(textOf(quality)) ?? maxTokens),
    ...{ cachedTokens: 0, reasoningTokens: 0, imageInputTokens, estimated: true },
  }
  return { images, tokens }
}

const usage = ({ data, usage: reported }: WireObject): Usage => {
  const { input_tokens, input_tokens_details, output_tokens, output_tokens_details } = objectOf(reported)
  const tokens = counted((count) => ({
    ...{ inputTokens: count(input_tokens), outputTokens: count(output_tokens), cachedTokens: 0 },
    reasoningTokens: count(objectOf(output_tokens_details).reasoning_tokens),
    imageInputTokens: count(objectOf(input_tokens_details).image_tokens),
    ...chargedIn(objectOf(reported)),
  }))
  return { images: arrayOf(data).length, ...(tokens !== null && { tokens }) }
}

/** What the provider charged; else priced by tokens where they have a price and are counted, unless the project set a price of an image. */
const costUsd = (route: Route, { images, tokens }: Usage): string | null => {
  if (tokens?.chargedUsd !== undefined && reportsCharges(route.provider)) return tokens.chargedUsd
  const row = routePrice(route)
  const byTokens = row?.output !== undefined && (tokens?.outputTokens ?? 0) > 0
  if (byTokens && route.ownPrices?.image === undefined && tokens !== undefined) return costOfUnits(row, { tokens })
  return row?.image === undefined || images === undefined ? null : costOfUnits(row, { images })
}

/** xAI also charges for the images of an edit's input, at a price that the list does not have; its answers say the sum. */
const hasUnlistedPrice = ({ provider, ownPrices }: Route): boolean =>
  provider === 'xai' && ownPrices?.image === undefined

/** The prompts that a model has revised. */
const written: NonNullable<JsonCallKind['written']> = (answer) => {
  const images = arrayOf(answer.data).map(objectOf)
  const put = (texts: readonly string[]): WireObject => ({
    ...answer,
    data: images.map((image, at) => (image.revised_prompt ? { ...image, revised_prompt: texts[at] } : image)),
  })
  return { texts: images.map(({ revised_prompt }) => textOf(revised_prompt)), put }
}

/** A call for images in OpenAI's form: edits of the given ones, or for null generated ones. */
export const imageCall = (operation: string, given: GivenImages | null): JsonCallKind => ({
  ...{ operation, need: 'image', usage, written },
  costUsd: (route, used) => {
    if (given === null || !hasUnlistedPrice(route) || used.tokens?.chargedUsd !== undefined) return costUsd(route, used)
    // held is what the images of the input cost at most: as much as those of the answer
    const isHeld = used.tokens?.estimated === true
    return isHeld ? costUsd(route, { images: (used.images ?? 0) + given.images.length }) : null
  },
  target: (route) => providerFormats[route.format].images?.(route, given) ?? null,
  max: (document) => max(document, given),
})
