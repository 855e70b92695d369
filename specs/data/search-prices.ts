/**
 * Charge of a provider for a web search by one of its own tools, in addition to tokens. Sources are the price pages, as
 * quoted in the providers' forums and documentation in 2026: OpenAI (platform.openai.com/docs/pricing, "Built-in
 * tools"), Anthropic (platform.claude.com/docs, "Web search tool": $10 per 1,000 searches), Google
 * (ai.google.dev/gemini-api/docs/pricing: per grounded request before Gemini 3, per query since), xAI
 * (docs.x.ai/developers/models, "Tools Pricing": $5 per 1,000 calls).
 */
export interface SearchPrice {
  /** Id of `specs/data/providers.ts`. */
  readonly provider: string
  /** Matches ids of models; absent: all other models of the provider. */
  readonly models?: RegExp
  /** Applies to OpenAI's tool `web_search_preview`. */
  readonly preview?: true
  /** Charged once per request, however many searches it made. */
  readonly once?: true
  /** USD as decimal text. */
  readonly usd: string
}

/** Prices of searches. The first matching entry applies. */
export const searchPrices: readonly SearchPrice[] = [
  { provider: 'openai', preview: true, models: /^(?:gpt-4o|gpt-4\.1)/, usd: '0.025' },
  { provider: 'openai', usd: '0.01' },
  { provider: 'anthropic', usd: '0.01' },
  // Anthropic's tool, which Vertex AI has for Claude at Anthropic's price
  { provider: 'vertex', models: /^claude-/, usd: '0.01' },
  { provider: 'google', models: /^gemini-[12]/, once: true, usd: '0.035' },
  { provider: 'google', usd: '0.014' },
  { provider: 'xai', usd: '0.005' },
]
