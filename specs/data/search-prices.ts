/**
 * What providers charge for a search of the web by a tool of theirs, beside tokens. From their price pages, as they are quoted by
 * their forums and documentation in 2026: OpenAI (platform.openai.com/docs/pricing, "Built-in tools"), Anthropic
 * (platform.claude.com/docs, "Web search tool": $10 per 1,000 searches), Google (ai.google.dev/gemini-api/docs/pricing: before
 * Gemini 3 a grounded request, since then each query), xAI (docs.x.ai/developers/models, "Tools Pricing": $5 per 1,000 calls).
 */
export interface SearchPrice {
  /** Id of `specs/data/providers.ts`. */
  readonly provider: string
  /** Ids of models; absent for all others of the provider. */
  readonly models?: RegExp
  /** OpenAI's tool `web_search_preview`. */
  readonly preview?: true
  /** Charged once for a request that searched, however often it did. */
  readonly once?: true
  /** USD as decimal text. */
  readonly usd: string
}

/** The first that fits counts. */
export const searchPrices: readonly SearchPrice[] = [
  { provider: 'openai', preview: true, models: /^(?:gpt-4o|gpt-4\.1)/, usd: '0.025' },
  { provider: 'openai', usd: '0.01' },
  { provider: 'anthropic', usd: '0.01' },
  { provider: 'google', models: /^gemini-[12]/, once: true, usd: '0.035' },
  { provider: 'google', usd: '0.014' },
  { provider: 'xai', usd: '0.005' },
]
