import { routePrice } from '#gateway/call/accounting/route-price.ts'
import type { Route } from '#gateway/call/routes.ts'
import type { DocumentTarget, JsonCallKind } from '#gateway/documents/json-calls.ts'
import { costOfUnits } from '#gateway/prices/prices.ts'
import type { TokenUsage, Usage } from '#gateway/prices/usage.ts'
import { providerFormats } from '#gateway/providers/provider-formats.ts'
import { arrayOf, countOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'

const target = (route: Route): DocumentTarget | null => providerFormats[route.format].images?.(route) ?? null

const tokensOf = (inputTokens: number, outputTokens: number): TokenUsage => ({
  ...{ inputTokens, outputTokens, cachedTokens: 0, reasoningTokens: 0 },
})

/**
 * Tokens of one OpenAI image of the largest common size, by quality. An absent or unknown quality counts as the most
 * expensive.
 */
const tokensByQuality: ReadonlyMap<string, number> = new Map([
  ['low', 408],
  ['medium', 1584],
])
const maxTokens = 6240

const max = ({ prompt, n, quality }: WireObject): Usage => {
  const images = countOf(n) || 1
  const written = images * (tokensByQuality.get(textOf(quality)) ?? maxTokens)
  return { images, tokens: tokensOf(Buffer.byteLength(textOf(prompt)), written) }
}

const usage = ({ data, usage: counted }: WireObject): Usage => {
  const { input_tokens, output_tokens } = objectOf(counted)
  return { images: arrayOf(data).length, tokens: tokensOf(countOf(input_tokens), countOf(output_tokens)) }
}

/** Priced by tokens when OpenAI serves the call and has counted them, else by the image. */
const costUsd = (route: Route, { images, tokens }: Usage): string | null => {
  const row = routePrice(route)
  const byTokens = row?.provider === 'openai' && row.output !== undefined && (tokens?.outputTokens ?? 0) > 0
  if (byTokens && tokens !== undefined) return costOfUnits(row, { tokens })
  return row?.image === undefined || images === undefined ? null : costOfUnits(row, { images })
}

/** Image generation, in OpenAI's form. */
export const imageGeneration: JsonCallKind = {
  ...{ operation: 'images.generate', need: 'image' },
  ...{ target, max, usage, costUsd },
}
