/** Makes vectors of texts, so that what means the same is close. */
export interface Embedder {
  /** Kept with each vector: `local/all-minilm-l6-v2`, `openai/text-embedding-3-small`; `none` makes none. */
  readonly id: string
  readonly dimensions: number
  /** Vectors of length 1, in the order of the texts. */
  embed(texts: readonly string[], use: EmbedUse): Promise<readonly Float32Array[]>
}

/** Some models are given questions otherwise than what is to be found. */
export type EmbedUse = 'query' | 'passage'
