/** Tokens as the provider counted them. Cached and reasoning tokens are part of input and output. */
export interface TokenUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly reasoningTokens: number
  /** Part of the input that the provider wrote to its cache, where it says so and charges for it. */
  readonly cacheWriteTokens?: number
  /** Part of those written: what is kept longer than usual, at a higher price (Anthropic an hour, OpenAI twelve). */
  readonly cacheWriteLongTokens?: number
  /** Audio among the input, what came from the cache included, and among the output; absent for none. */
  readonly audioInputTokens?: number
  readonly audioOutputTokens?: number
  /** Audio among what came from the cache. */
  readonly audioCachedTokens?: number
  /** Web searches of the provider that it charges for, and those of OpenAI's tool `web_search_preview`; absent for none. */
  readonly searches?: number
  readonly previewSearches?: number
  /** What the provider says that it charged, in USD as exact decimal text. */
  readonly chargedUsd?: string
  /** The provider counted nothing; these are estimates by length. Absent on real counts. */
  readonly estimated?: true
}

/** What a call used, in the units that its provider charges for. */
export interface Usage {
  readonly tokens?: TokenUsage
  /** Text made speech. */
  readonly characters?: number
  /** Audio made text. */
  readonly seconds?: number
  readonly images?: number
}
