/** What providers charge for a search of the web by a tool of theirs, beside tokens: from their price pages, November 2026. */
export interface SearchPrice {
  /** Id of `specs/data/providers.ts`. */
  readonly provider: string
  /** Ids of models; absent for all others of the provider. */
  readonly models?: RegExp
  /** OpenAI's tool `web_search_preview`. */
  readonly preview?: true
  /** USD as decimal text. */
  readonly usd: string
}

/** The first that fits counts. */
export const searchPrices: readonly SearchPrice[] = [
  { provider: 'openai', preview: true, models: /^(?:gpt-4o|gpt-4\.1)/, usd: '0.025' },
  { provider: 'openai', usd: '0.01' },
  { provider: 'anthropic', usd: '0.01' },
  { provider: 'google', models: /^gemini-[12]/, usd: '0.035' },
  { provider: 'google', usd: '0.014' },
]
