import { LocalEmbedder } from './embedding/local-embedder.ts'

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

/**
 * Opens a sentence model (ONNX) from a folder: `model.onnx`, `tokenizer.json` and the settings beside them as
 * sentence-transformers lay them out. The packages `onnxruntime-node` and `@huggingface/tokenizers` have to be installed
 * beside the model or the product.
 *
 * @throws {Error} that says what is missing.
 */
export const openLocalEmbedder = (folder: string, { threads = 1 } = {}): Promise<LocalEmbedder> =>
  LocalEmbedder.open({ folder, threads })
