/** Tokens as counted by the provider. Input includes cached tokens, output includes reasoning tokens. */
export interface TokenUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly reasoningTokens: number
  /** Part of the input that the provider wrote to its cache, if it reports that and charges for it. */
  readonly cacheWriteTokens?: number
  /** Part of `cacheWriteTokens` with an extended lifetime, at a higher price (Anthropic one hour, OpenAI twelve). */
  readonly cacheWriteLongTokens?: number
  /** Audio tokens in the input (including cached ones) and in the output; absent for none. */
  readonly audioInputTokens?: number
  readonly audioOutputTokens?: number
  /** Audio tokens in the cached input. */
  readonly audioCachedTokens?: number
  /** Tokens of images in the input (including cached ones), and in the cached input; absent for none. */
  readonly imageInputTokens?: number
  readonly imageCachedTokens?: number
  /** Billed web searches by the provider, and searches by OpenAI's tool `web_search_preview`; absent for none. */
  readonly searches?: number
  readonly previewSearches?: number
  /** Where the model ran, if the provider was bound to a place, and the speed that costs more; absent for none. */
  readonly inferenceGeo?: string
  readonly speed?: 'fast'
  /** The charge reported by the provider, in USD as exact decimal text. */
  readonly chargedUsd?: string
  /** The provider reported no counts, and these are estimates by length. Absent on real counts. */
  readonly estimated?: true
}

/** Usage of a call, in the units that its provider charges for. */
export interface Usage {
  readonly tokens?: TokenUsage
  /** Characters converted to speech. */
  readonly characters?: number
  /** Seconds of audio transcribed. */
  readonly seconds?: number
  readonly images?: number
}

/** Returns the tokens of a call, input and output. */
export const tokensOfUsage = (usage: Usage | null): number => {
  const { inputTokens = 0, outputTokens = 0 } = usage?.tokens ?? {}
  return inputTokens + outputTokens
}

const placeOf = ({ inferenceGeo, speed }: TokenUsage): Pick<TokenUsage, 'inferenceGeo' | 'speed'> => ({
  ...(inferenceGeo !== undefined && { inferenceGeo }),
  ...(speed !== undefined && { speed }),
})

/** Returns the usage of several calls that are one for who pays. */
export const addUsage = (a: TokenUsage | null, b: TokenUsage): TokenUsage =>
  a === null
    ? b
    : {
        inputTokens: a.inputTokens + b.inputTokens,
        outputTokens: a.outputTokens + b.outputTokens,
        cachedTokens: a.cachedTokens + b.cachedTokens,
        reasoningTokens: a.reasoningTokens + b.reasoningTokens,
        cacheWriteTokens: (a.cacheWriteTokens ?? 0) + (b.cacheWriteTokens ?? 0),
        cacheWriteLongTokens: (a.cacheWriteLongTokens ?? 0) + (b.cacheWriteLongTokens ?? 0),
        audioInputTokens: (a.audioInputTokens ?? 0) + (b.audioInputTokens ?? 0),
        audioOutputTokens: (a.audioOutputTokens ?? 0) + (b.audioOutputTokens ?? 0),
        audioCachedTokens: (a.audioCachedTokens ?? 0) + (b.audioCachedTokens ?? 0),
        searches: (a.searches ?? 0) + (b.searches ?? 0),
        previewSearches: (a.previewSearches ?? 0) + (b.previewSearches ?? 0),
        ...placeOf(b),
        ...placeOf(a),
        ...((a.estimated === true || b.estimated === true) && { estimated: true as const }),
      }
